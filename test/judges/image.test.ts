import { chownSync, globSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeToken } from '../../src/commands/token.ts';
import { billOfMaterials } from '../../scripts/sbom.ts';
import { startMachine } from '../docs/machine.ts';
import { failuresOfNamed } from '../docs/try-commands.ts';
import { canRunContainers, type Container, startContainer } from '../support/container.ts';
import { givenFolder } from '../support/folder.ts';
import { valueOf } from '../support/samples.ts';
import { until } from '../support/until.ts';
import { buildImage, type BuiltImage } from './given-image.ts';
import { judge, run, tell } from './tools.ts';

interface Package {
  readonly name: string;
  readonly version: string;
}

describe.skipIf(!judge('buildah') || !canRunContainers())(
  'the image, built from the Dockerfile by buildah',
  { timeout: 300_000 },
  () => {
    let image: BuiltImage;

    beforeAll(async () => {
      image = await buildImage();
      return image.remove;
    }, 1_200_000);

    /**
     * A folder of this machine that belongs to the user of the image, as an engine makes a volume.
     */
    function givenVolume(): string {
      const given = givenFolder();
      chownSync(given, 1_000, 1_000);
      return given;
    }

    function get(container: Container, url: string): string {
      return container.exec('node', '--eval', `fetch('${url}').then((r) => r.text()).then(console.log)`).stdout;
    }

    async function untilHealthy(container: Container): Promise<void> {
      await until(
        () => container.exec(...image.docker.Healthcheck.Test.slice(1)).code ?? container.output(),
        (code) => code === 0,
        120_000,
      );
    }

    it('runs the demonstration as deploy/compose.yml does, is healthy, serves the runbooks, and stops with 0', async () => {
      const startedAt = performance.now();
      const container = startContainer({ image, args: ['--web.listen-address=:9444'] });
      await untilHealthy(container);
      console.log(`image: healthy ${((performance.now() - startedAt) / 1_000).toFixed(1)} s after its start`);

      const up = await until(
        () => valueOf(get(container, 'http://127.0.0.1:9444/metrics'), 'zlb_up', { appliance: 'lb-madrid' }),
        (seen) => seen === 1,
        120_000,
      );
      tell('image that is built', 1, startedAt);
      const runbooks = get(container, 'http://127.0.0.1:9444/runbooks');
      container.signal('SIGTERM');

      expect(await container.ended).toBe(0);
      expect(up).toBe(1);
      expect(runbooks).toContain('id="zlbfarmdown"');
      expect(container.output()).toContain('http://');
    });

    it('runs as an unprivileged user and process 1, and its program cannot change it', async () => {
      const container = startContainer({ image, args: ['--web.listen-address=:9444'] });
      await untilHealthy(container);
      const attempts = [
        '/app/dist/src/main.js',
        '/app/x',
        '/etc/x',
        '/usr/local/bin/node',
        '/var/lib/zlb-exporter/x',
        '/x',
      ];

      const { stdout } = container.exec(
        'node',
        '--eval',
        `const fs = require('fs');
      const status = fs.readFileSync('/proc/1/status', 'utf8');
      const write = (file) => { try { fs.writeFileSync(file, ''); return 'written'; } catch ({ code }) { return code; } };
      console.log(JSON.stringify({
        program: fs.readFileSync('/proc/1/cmdline', 'utf8').split('\\0')[0],
        ...Object.fromEntries([...status.matchAll(/^(Uid|CapEff|CapBnd|NoNewPrivs):\\s*(.*)$/gm)].map(([, k, v]) => [k, v])),
        attempts: ${JSON.stringify(attempts)}.map(write),
        temporary: write('/tmp/x'),
      }))`,
      );

      expect(JSON.parse(stdout)).toEqual({
        program: 'node',
        Uid: '1000\t1000\t1000\t1000',
        CapEff: '0000000000000000',
        CapBnd: '0000000000000000',
        NoNewPrivs: '1',
        attempts: attempts.map(() => 'EROFS'),
        temporary: 'written',
      });
    });

    it('reloads its configuration on SIGHUP, and keeps its audit on the volume', async () => {
      const [etc, state] = [givenVolume(), givenVolume()];
      const { token, sha256 } = makeToken();
      const configure = (...names: readonly string[]): void =>
        writeFileSync(
          join(etc, 'zlb.yml'),
          JSON.stringify({
            appliances: names.map((name) => ({ name, url: 'https://127.0.0.1:9', api_key: 'canary-key' })),
            admin: {
              journal_file: '/var/lib/zlb-exporter/journal.db',
              tokens: [{ name: 'alice', sha256, role: 'admin' }],
            },
          }),
        );
      configure('one');
      const container = startContainer({
        image,
        env: ['ZLB_ADMIN_URL=http://127.0.0.1:9445', `ZLB_ADMIN_TOKEN=${token}`],
        readable: { '/etc/zlb-exporter': etc },
        writable: { '/var/lib/zlb-exporter': state },
      });
      await untilHealthy(container);

      configure('one', 'two');
      container.signal('SIGHUP');
      const discovered = await until(
        () => get(container, 'http://127.0.0.1:9444/sd'),
        (seen) => seen.includes('two'),
      );
      const call = ['admin', 'two', 'actOnFarm', 'farmname=shop', 'action=stop', '--reason=trying', '--force', '--yes'];
      const refused = container.exec('zlb-exporter', ...call, '--confirm=shop');
      const audit = (what: string) => container.exec('zlb-exporter', 'audit', what, '/var/lib/zlb-exporter/journal.db');
      const [exported, verified] = [audit('export'), audit('verify')];
      container.signal('SIGTERM');

      expect(discovered).toContain('one');
      expect(refused.code).not.toBe(0);
      expect(exported.stdout).toContain('"alice"');
      expect(verified).toMatchObject({ code: 0 });
      expect(await container.ended).toBe(0);
      expect(container.output()).not.toContain('canary-key');
    });

    it('has every command in an alert, message, help or document', { timeout: 1_200_000 }, async () => {
      const machine = await startMachine({ parent: join(image.root, 'tmp'), hasAlerts: false });
      onTestFinished(() => machine.close());
      // Its exporter is that of this machine; in a container both have the user of the image.
      writeFileSync(join(machine.folder, 'data/journal.db'), '', { flag: 'a', mode: 0o600 });
      run('chown', ['--recursive', '1000:1000', machine.folder]);
      const place = machine.folder.slice(image.root.length);
      const entering = ['--mount-proc', `--root=${image.root}`, `--wd=${place}`, '--setuid=1000', '--setgid=1000'];
      const program = ['unshare', ...entering, '/usr/local/bin/zlb-exporter'];
      const env = {
        ...machine.env,
        ZLB_CONFIG_FILE: 'running.yml',
        PATH: process.env['PATH'],
        HOME: place,
        TMPDIR: '/tmp',
      };

      expect(await failuresOfNamed({ program, cwd: '/', env }, machine)).toEqual([]);
    });

    it('contains no program but Node.js, nothing writable by others, and no unused files', () => {
      const files = readdirSync(image.root, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name).slice(image.root.length));
      const stats = new Map(files.map((file) => [file, lstatSync(join(image.root, file))]));
      const programs = files.filter((file) => /^\/(?:usr\/)?(?:local\/)?s?bin\//.test(file));
      const loose = files.filter((file) => {
        const { mode, uid } = stats.get(file) ?? { mode: 0, uid: 1 };
        return uid !== 0 || ((mode & 0o6022) !== 0 && !lstatSync(join(image.root, file)).isSymbolicLink());
      });
      const idle = files.filter((file) => /^\/app\/.+\.(?:map|[cm]?ts|md)$/.test(file) && !/licen[cs]e/i.test(file));

      expect(programs).toEqual(['/usr/local/bin/node', '/usr/local/bin/zlb-exporter']);
      expect(loose).toEqual([]);
      expect(idle).toEqual([]);
      expect(files.filter((file) => /^\/app\/node_modules\/(?:typescript|vitest|node)\//.test(file))).toEqual([]);
    });

    it('contains exactly the packages of the bill of materials, in these versions', () => {
      const { components, metadata } = billOfMaterials({ builtAt: new Date(), node: process.execPath });
      const named = ({ name, version }: Package): string => `${name}@${version}`;
      const held = globSync('app/**/node_modules/{*,@*/*}/package.json', { cwd: image.root })
        .map((path) => JSON.parse(readFileSync(join(image.root, path), 'utf8')) as Package)
        .filter(({ version }) => version);

      const packages = components.filter(({ name }) => name !== 'node');
      expect(new Set(held.map(named))).toEqual(new Set(packages.map(named)));
      expect(image.docker.Labels['org.opencontainers.image.version']).toBe(metadata.component.version);
    });
  },
);
