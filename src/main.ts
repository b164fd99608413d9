#!/usr/bin/env node
// An older Node.js must be able to run this file: it imports nothing before it has checked the
// version, and uses no syntax newer than Node.js 12.
const needed = 24;
const found = Number(process.versions.node.split('.')[0]);

// Files and lookups of host names take a thread each for as long as they hang; lookups may take half
// of them (src/lib/host-resolver.ts). Node.js starts the threads when the first file is read, below.
if (!process.env.UV_THREADPOOL_SIZE) process.env.UV_THREADPOOL_SIZE = '48';

if (found >= needed) {
  void import('./program.ts');
} else {
  process.stderr.write(
    `zlb-exporter needs Node.js ${needed} or newer and was started with ${process.versions.node} (${process.execPath}); ` +
      `install Node.js ${needed} and start it with that, or use the container image, which has its own\n`,
  );
  process.exitCode = 1;
}
