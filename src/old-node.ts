import { commands, exporter, isCommand } from './commands/commands.ts';
import { readBuildInfo } from './app/build-info.ts';

// Shows help and version on an older Node.js; the imports above need no newer syntax.
const words = process.argv.slice(2);
const { version, revision, nodeVersion } = readBuildInfo(process.env);
const command = words.find(isCommand);
const text = (command ? commands[command] : exporter).help;
process.stdout.write(
  `${words.includes('--version') ? `zlb-exporter ${version} (revision ${revision}, Node.js ${nodeVersion})` : text}\n`,
);
