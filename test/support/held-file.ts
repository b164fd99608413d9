import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { collectOutput } from './process.ts';
import { until } from './until.ts';

// A lease for writing. The kernel lets others open the file once its holder agrees, or after 45 s.
const program = `
$| = 1;
$SIG{IO} = sub { print "awaited\\n" };
open my $file, '+<', $ARGV[0] or die "$ARGV[0]: $!";
fcntl $file, 1024, 1 or die "lease: $!";
print "held\\n";
sleep 3600 while 1;
`;

/**
 * Makes a file hang as on a network drive without its server: whoever opens it waits for up to
 * 45 s. Needs perl, no rights, and a file that nobody has open.
 */
export async function holdFile(path: string) {
  const holder = spawn('perl', ['-e', program, path], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void holder.kill('SIGKILL'));
  const { stdout, stderr } = collectOutput(holder);
  const said = (word: string) =>
    until(
      () => stdout() + stderr(),
      (seen) => seen.includes(word) || seen.includes('lease:'),
    );
  await said('held');
  return {
    /** Resolves when somebody waits for the file. */
    awaited: () => said('awaited'),
  };
}
