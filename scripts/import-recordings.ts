import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  decodedCall,
  type Exchange,
  readExchanges,
  recordedHeader,
  recordedProducts,
  textOf,
} from '../test/support/recordings.ts';

// Copies the recordings beside the clone into test/recorded/, with the appliance's sentences
// replaced by ours: keys, types, values and statuses stay. Run again whenever there are new
// recordings: node scripts/import-recordings.ts

const sentences: Readonly<Record<string, string>> = {
  description: 'What this is about.',
  documentation: 'https://appliance.example/manual/api/v4.0/',
  error414: 'The address is too long.',
  error500: 'Something went wrong here.',
  error501: 'This verb is not served.',
  error503: 'No server can answer now.',
};
// Clients may tell these apart by their words (docs/api.md §1.2, §3.19).
const kept = /^(?:Request not found: .*|Authorization required)$/;
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwC\n';

function main(): void {
  for (const { product, clone, beside } of recordedProducts) {
    mkdirSync(clone, { recursive: true });
    const all = readExchanges(beside);
    // The simulated appliance answers all that RELIANOID did; of others, tests decode the reads.
    const exchanges = product === 'relianoid' ? all : all.filter(decodedCall);
    for (const exchange of exchanges) {
      const { name, ...content } = reworded(exchange);
      writeFileSync(join(clone, `${name}.json`), `${JSON.stringify(content)}\n`);
    }
    console.log(`${exchanges.length} of ${all.length} exchanges of ${product} imported`);
  }
}

function reworded(exchange: Exchange): Exchange {
  const { name, request, response, recorded_at } = exchange;
  const { method, path, headers, body } = request;
  return {
    name,
    request: { method, path, headers, body },
    response: {
      status: response.status,
      headers: response.headers.filter(([key]) => key.toLowerCase() !== 'content-length'),
      body: rewordedBody(textOf(exchange), recordedHeader(response.headers, 'content-type')),
      body_encoding: 'utf-8',
    },
    recorded_at,
  };
}

function rewordedBody(body: string, type: string): string {
  if (body === '') return '';
  if (type === 'application/json')
    return JSON.stringify(JSON.parse(body), (key, value: unknown) => rewordedValue(key, value));
  return type === 'text/html'
    ? '<!DOCTYPE html><html><body><h1>A page of the web server</h1></body></html>'
    : rewordedText(body);
}

function rewordedValue(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (key === 'message') return kept.test(value) ? value : 'What came of it.';
  if (key === 'graphs') return pixel;
  return sentences[key] !== undefined && value !== '' ? sentences[key] : value;
}

/**
 * The text form of a certificate without its long numbers and with nobody's name; anything else is
 * a sentence.
 */
function rewordedText(body: string): string {
  if (!body.startsWith('Certificate')) return 'Nothing to show.';
  const lines = body
    .split('\n')
    .filter((line) =>
      /^Certificate|^ {4}Data:|Version|Issuer:|Validity|Not Before|Not After|Subject:|^-----/.test(line),
    );
  return `${lines.join('\n').replaceAll('RELIANOID', 'Example').replaceAll('relianoid', 'example')}\n`;
}

main();
