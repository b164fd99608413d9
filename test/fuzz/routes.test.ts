import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AdminProblem } from '../../src/gateway/problem.ts';
import { createOperations } from '../../src/gateway/operation.ts';
import { endpointRows } from '../../src/appliance/api/table.ts';
import { parseRoute } from '../../src/appliance/route.ts';
import { fuzzing } from '../support/fuzz.ts';
import { edited } from './edited-text.ts';
import { hostileName } from './hostile-names.ts';

const routes = endpointRows.map(([, { route }]) => parseRoute(route));
const anyRoute = fc.constantFrom(...routes);
const names = fc.array(hostileName, { minLength: 8, maxLength: 8 });

describe('a path that is sent to the gateway', () => {
  const operations = createOperations();
  const path = fc.tuple(anyRoute, names).chain(([{ template }, values]) => {
    const params = paramsOf(template, values);
    const filled = template.replaceAll(/\{([^}*]+)\*?\}/g, (_, name: string) => params[name] ?? '');
    const encoded = template.replaceAll(/\{([^}*]+)\*?\}/g, (_, name: string) =>
      encodeURIComponent((params[name] ?? '').toWellFormed()),
    );
    return fc.oneof(fc.constantFrom(filled, encoded, encodeURI(filled.toWellFormed())), edited(encoded));
  });

  it('is what is sent to the appliance, or is refused', () => {
    fc.assert(
      fc.property(fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'get'), path, (method, sent) => {
        const found = findOrRefuse(method, sent);

        if (!found) return;
        expect(found.operation.method).toBe(method);
        expect(Object.values(found.params)).toEqual(valuesIn(found.path, found.operation.template));
        // Decoded once, both say the same; and nobody on the way finds something else to decode, or
        // to leave out.
        expect(decodeURIComponent(found.path)).toBe(decodeURIComponent(sent));
        expect(decodeURIComponent(found.path)).not.toMatch(
          /%[0-9a-f]{2}|\\|\/\/|\/\.{1,2}(\/|$)|[\u0000-\u001f\u007f]/i,
        );
      }),
      fuzzing('gatewayPaths'),
    );
  });

  function findOrRefuse(method: string, sent: string) {
    try {
      return operations.find(method, sent);
    } catch (error) {
      expect(error).toBeInstanceOf(AdminProblem);
      return undefined;
    }
  }
});

function paramsOf(template: string, values: readonly string[]): Readonly<Record<string, string>> {
  const placeholders = [...template.matchAll(/\{([^}*]+)\*?\}/g)].map(([, name = '']) => name);
  return Object.fromEntries(placeholders.map((name, index) => [name, values[index] ?? '']));
}

/**
 * The names that an appliance finds in a path which it takes for a call of this template: it
 * decodes once, and then goes from slash to slash. Throws where the path is of another template, or
 * is not read alike by everybody on the way.
 */
function valuesIn(path: string, template: string): readonly string[] {
  const kept = new URL(path, 'https://appliance.example');
  if (kept.pathname !== path || kept.search !== '' || kept.hash !== '')
    throw new Error(`a URL makes ${kept.pathname}${kept.search}${kept.hash} of ${path}`);
  const source = template.replaceAll(/\{[^}*]+\*\}/g, '(.+)').replaceAll(/\{[^}*]+\}/g, '([^/]+)');
  const match = new RegExp(`^${source}$`, 's').exec(decodeURIComponent(path));
  if (!match) throw new Error(`${path} is not ${template}`);
  return match.slice(1);
}
