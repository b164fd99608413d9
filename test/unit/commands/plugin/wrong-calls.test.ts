import { expect, it } from 'vitest';
import { runCommandLine } from '../../../../src/cli.ts';
import { givenContext } from '../given-command.ts';

it.each([
  [['plugin'], 'the check is missing;'],
  [['plugin', 'frm', 'lb-1'], 'did you mean farm?'],
  [['plugin', 'farm'], 'the appliance is missing'],
  [['plugin', 'farm', 'lb-1', 'shop', 'intranet'], 'takes an appliance and a name'],
  [['plugin', 'activation', 'lb-1', 'x'], 'takes only an appliance'],
  [['plugin', 'appliance', 'lb-1', '-w', '3'], 'are not valid with plugin appliance'],
  [['plugin', 'farm', 'lb-1', '-w', '50', '-c', '75'], '-c has to be below -w'],
  [['plugin', 'connections', 'lb-1', '-w', '50', '-c', '7'], '-c has to be above -w'],
  [['plugin', 'farm', 'lb-1', '-w', '7:5'], 'must be a number or a range'],
  [['plugin', 'farm', 'lb-1', '-w', '5%'], 'must be a number or a range'],
  [['plugin', 'farm', 'lb-1', '-w', '@'], 'must be a number or a range'],
  [['plugin', 'farm', 'lb-1', '-t', '0'], 'must be a number of seconds'],
  [['plugin', 'farm', 'lb-1', '--config.file=zlb.yml'], 'not valid with plugin'],
  [['plugin', 'farm', 'lb-1', '--nonsense'], 'there is no flag'],
  [['plugin', 'farm', 'lb-1', '--exporter.url=ftp://x'], 'must be a URL'],
  [['plugin', 'farm', 'lb-1', '--exporter.ca-file=ca.pem'], 'are only used with https'],
  [
    ['plugin', 'farm', 'lb-1', '--exporter.url=http://192.0.2.1', '--exporter.user-file=package.json'],
    'over plain http',
  ],
  [['plugin', 'farm', 'lb-1', '--exporter.user-file=package.json'], 'must contain one line'],
])('the malformed command line %j is UNKNOWN in one line', async (words, text) => {
  const { context, said, warned } = givenContext({});

  const code = await runCommandLine(words, context);

  expect({ code, said, warned }).toEqual({ code: 3, said: [expect.stringMatching(/^UNKNOWN - [^\n]+$/)], warned: [] });
  expect(said[0]).toContain(text);
});
