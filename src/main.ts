#!/usr/bin/env node
// An older Node.js must be able to run this file: it imports nothing before it has checked the
// version, and uses no syntax newer than Node.js 12.
const needed = 24;
const found = Number(process.versions.node.split('.')[0]);

if (found >= needed) {
  void import('./program.ts');
} else {
  process.stderr.write(
    `zlb-exporter needs Node.js ${needed} or newer and was started with ${process.versions.node} (${process.execPath}); ` +
      `install Node.js ${needed} and start it with that, or use the container image, which has its own\n`,
  );
  process.exitCode = 1;
}
