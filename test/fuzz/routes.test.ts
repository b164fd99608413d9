import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AdminProblem } from '../../src/gateway/problem.ts';
import { createOperations } from '../../src/gateway/operation.ts';
import { endpointRows } from '../../src/appliance/api/table.ts';
import { fillTemplate, parseRoute } from '../../src/appliance/route.ts';
import { fuzzing } from '../support/fuzz.ts';
import { edited } from './edited-text.ts';
import { hostileName } from './hostile-names.ts';
import { valuesIn } from './values-in-path.ts';

const routes = endpointRows.map(([, { route }]) => parseRoute(route));
const anyRoute = fc.constantFrom(...routes);
const names = fc.array(hostileName, { minLength: 8, maxLength: 8 });

it('a template that is filled with hostile names is a path of that template with just these names in it, or none at all', () => {
  fc.assert(
    fc.property(anyRoute, names, ({ template }, values) => {
      const params = paramsOf(template, values);

      const path = fillTemplate(template, params);

      if (path !== undefined) expect(valuesIn(path, template)).toEqual(Object.values(params));
    }),
    fuzzing('filledRoutes'),
  );
});

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
