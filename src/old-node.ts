import { readBuildInfo } from './build-info.ts';
import { adminHelp } from './commands/admin/help.ts';
import { help, helpOf } from './commands/help.ts';

// What an older Node.js can show: the imports above are texts and the package's version.
const words = process.argv.slice(2);
const { version, revision, nodeVersion } = readBuildInfo(process.env);
const command = words.find((word) => word === 'admin' || helpOf.has(word)) || '';
const text = command === 'admin' ? adminHelp : helpOf.get(command) || help;
process.stdout.write(
  `${words.includes('--version') ? `zlb-exporter ${version} (revision ${revision}, Node.js ${nodeVersion})` : text}\n`,
);
