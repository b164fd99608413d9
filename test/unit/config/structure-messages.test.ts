import { expect, it } from 'vitest';
import { loadText, refusal } from './given-config.ts';

it.each([
  ['five seconds', ', got "five seconds"'],
  ['a key that somebody pasted here', ''],
  ['\\u009b2J', ''],
  ['\\u2028', ''],
])('repeats "%s" only if it is short and has no control characters', async (timeout, got) => {
  const text = `appliances: [{ name: lb, url: 192.0.2.10, api_key: f1x7ure }]\npolling: { timeout: "${timeout}" }\n`;

  expect(await refusal(loadText(text))).toEqual([
    `zlb.yml:2:21: polling.timeout: must be a duration such as 20s or 1m30s${got}`,
  ]);
});
