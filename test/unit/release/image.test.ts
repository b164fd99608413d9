import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { givenFolder } from '../../support/folder.ts';
import { imageStage, readDockerfile } from '../../support/dockerfile.ts';

/** A program in the place of docker: it writes down how it was called, and makes up digests. */
const standIn = `#!/bin/sh
if [ "$2" = imagetools ]; then echo '"sha256:base"'; exit; fi
printf '%s\\n' "$@" >"$CALLED"
for word; do case $word in --metadata-file=*) echo '{"containerimage.digest":"sha256:made"}' >"\${word#*=}" ;; esac; done
`;

it('the image of a release is built for both platforms with every argument of the Dockerfile', () => {
  const folder = givenFolder();
  writeFileSync(join(folder, 'docker'), standIn);
  chmodSync(join(folder, 'docker'), 0o755);
  const PATH = [folder, dirname(process.execPath), process.env['PATH']].join(delimiter);

  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['scripts/release/image.sh', 'ghcr.io/x/zlb-exporter', 'https://git.example/zlb-exporter'],
    { env: { ...process.env, PATH, CALLED: join(folder, 'called') }, encoding: 'utf8' },
  );

  expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: '', stdout: 'sha256:made\n' });
  const words = readFileSync(join(folder, 'called'), 'utf8').split('\n');
  const given = words.flatMap((word, index) => (words[index - 1] === '--build-arg' ? [word] : []));
  const wanted = imageStage(readDockerfile())
    .instructions.filter(({ word }) => word === 'ARG')
    .map(({ text }) => text.split('=')[0]);
  expect(new Set(given.map((pair) => pair.split('=')[0]))).toEqual(new Set(wanted));
  expect(given).toContain('BASE=gcr.io/distroless/cc-debian13:nonroot@sha256:base');
  expect(given).toContain('SOURCE=https://git.example/zlb-exporter');
  expect(words).toEqual(expect.arrayContaining(['linux/amd64,linux/arm64', '--sbom=true', '--provenance=mode=max']));
});
