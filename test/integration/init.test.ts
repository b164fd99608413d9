import {
  chown,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCommandLine } from '../../src/cli.ts';
import type { Shell } from '../../src/commands/command.ts';
import { busyWorld } from '../../simulator/scenes/busy.ts';
import { type SimulatedApplianceOptions, startSimulatedAppliance } from '../../simulator/server.ts';
import { givenContext } from '../unit/commands/given-command.ts';
import { givenFolder } from '../support/folder.ts';
import { hasTerminals, runAtTerminal } from '../support/terminal.ts';
import { makeMaterial, startHttpsServer } from '../support/tls-server.ts';

const apiKey = 'canary-key-of-init';

/** Runs the program without a terminal, or with somebody who answers its questions. */
async function run(words: readonly string[], ask?: Shell['ask']) {
  const { context, said, warned } = givenContext({});
  const code = await runCommandLine(words, { ...context, shell: { ...context.shell, ask } });
  return { code, stdout: said.join('\n'), stderr: warned.join('\n') };
}

async function givenPlace(world = busyWorld(), options: Partial<SimulatedApplianceOptions> = {}) {
  const appliance = await startSimulatedAppliance({ world, apiKey, ...options });
  const folder = await mkdtemp(join(tmpdir(), 'zlb-init-'));
  onTestFinished(async () => {
    await appliance.close();
    await rm(folder, { recursive: true });
  });
  const [file, keyFile] = [join(folder, 'zlb.yml'), join(folder, 'given.key')];
  await writeFile(keyFile, `${apiKey}\n`, { mode: 0o600 });
  const target = appliance.url.replace('https://', '');
  const initAt = async (address: string, ...flags: readonly string[]) => {
    const made = await run(['init', address, `--config.file=${file}`, ...flags]);
    expect(made.stdout + made.stderr).not.toContain(apiKey);
    return made;
  };
  return {
    appliance,
    folder,
    file,
    keyFile,
    target,
    init: (...flags: readonly string[]) => initAt(target, '--trust-first', ...flags),
    initAt,
    /** Answers with a name and with the key. */
    async initAnswering(name: string, ...flags: readonly string[]) {
      const asked: string[] = [];
      const made = await run(['init', target, `--config.file=${file}`, ...flags], async (question) => {
        asked.push(question);
        return question.startsWith('Name') ? name : apiKey;
      });
      expect(made.stdout + made.stderr).not.toContain(apiKey);
      return { ...made, asked };
    },
    text: () => readFile(file, 'utf8'),
    check: () => run(['check', `--config.file=${file}`]),
  };
}

describe.skipIf(!hasTerminals)('init at a terminal', () => {
  it('leads from an address to a configuration that check accepts', async () => {
    const { appliance, folder, file, target, text, check } = await givenPlace();

    const { code, screen } = await runAtTerminal(
      [process.execPath, 'src/main.ts', 'init', target, `--config.file=${file}`],
      [
        { question: 'Name of the appliance', typed: 'lb-paris\r' },
        { question: 'API key', typed: `${apiKey}\r` },
      ],
    );

    const pairs = appliance.fingerprintSha256.toUpperCase().match(/../g)?.join(':');
    expect(code, screen).toBe(0);
    expect(screen).not.toContain(apiKey);
    expect(screen).toContain(`  ${appliance.fingerprintSha256}\n  ${pairs}\n`);
    expect(await text()).toBe(
      [
        '# docs/configuration.md has all settings.',
        'appliances:',
        '  - name: lb-paris',
        `    url: https://${target}`,
        '    api_key_file: lb-paris.key',
        '    tls:',
        `      fingerprint_sha256: ${appliance.fingerprintSha256}`,
        '',
      ].join('\n'),
    );
    expect(await readFile(join(folder, 'lb-paris.key'), 'utf8')).toBe(`${apiKey}\n`);
    expect((await stat(join(folder, 'lb-paris.key'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'zlb.yml'))).mode & 0o777).toBe(0o644);
    expect(await check()).toMatchObject({ code: 0, stdout: expect.stringContaining('lb-paris  ok') as string });
  });

  it('sends the key only after it has shown the certificate, and nothing if nobody confirms', async () => {
    const { appliance, folder, target, file } = await givenPlace();

    const { code, screen } = await runAtTerminal(
      [process.execPath, 'src/main.ts', 'init', target, `--config.file=${file}`, '--name=lb-1'],
      [{ question: 'API key', typed: '\u0003' }],
    );

    expect({ code, ends: screen.includes('Nothing was written.') }).toEqual({ code: 1, ends: true });
    expect(appliance.requests).toEqual([]);
    expect(readdirSync(folder)).toEqual(['given.key']);
  });
});

describe('init at a prompt', () => {
  it('writes the key into the key folder of an installation, and never overwrites another key', async () => {
    const { folder, initAnswering, text, check } = await givenPlace();
    await mkdir(join(folder, 'keys'));
    if (process.getuid?.() === 0) await chown(join(folder, 'keys'), 12_345, 12_345);

    const made = await initAnswering('lb-paris');
    await rm(join(folder, 'zlb.yml'));
    const again = await initAnswering('lb-paris');

    expect([made.code, again.code]).toEqual([0, 1]);
    expect(readdirSync(join(folder, 'keys'))).toEqual(['lb-paris.key']);
    const { uid } = await stat(join(folder, 'keys'));
    expect(await stat(join(folder, 'keys/lb-paris.key')), 'the exporter may read it').toMatchObject({ uid });
    expect(again.stderr).toMatch(/keys\/lb-paris\.key exists; .* Nothing was written\.$/);
    expect(again.asked, 'no key is asked for in vain').toHaveLength(1);
    expect(made.stdout).toContain('keys/lb-paris.key');
    await initAnswering('other');
    expect(await text()).toContain('api_key_file: keys/other.key');
    expect(await check()).toMatchObject({ code: 0 });
  });
});

describe.skipIf(process.getuid?.() !== 0)('init after deploy/systemd/install.sh', () => {
  it('names the key at the path of its systemd credential, and says how it gets there', async () => {
    const { folder, initAnswering, text } = await givenPlace();
    await mkdir(join(folder, 'keys'), { mode: 0o700 });
    await writeFile(join(folder, 'environment'), '');

    const made = await initAnswering('lb-paris');
    const again = await initAnswering('lb-rome', '--append');

    expect([made.code, again.code], made.stderr + again.stderr).toEqual([0, 0]);
    expect(await text()).toContain('api_key_file: /run/credentials/zlb-exporter.service/lb-paris.key\n');
    expect(await readFile(join(folder, 'keys/lb-paris.key'), 'utf8')).toBe(`${apiKey}\n`);
    expect(await stat(join(folder, 'keys/lb-paris.key'))).toMatchObject({ uid: 0, mode: 0o100600 });
    expect(made.stdout).toMatch(/Next:\n {2}sudo sh deploy\/systemd\/install\.sh {4}# .*$/);
  });
});

describe.skipIf(process.getuid?.() !== 0)('init after the installation of a package', () => {
  it('copies a key from a folder that the service cannot read', async () => {
    const { folder, init, keyFile, text } = await givenPlace();
    await mkdir(join(folder, 'keys'), { mode: 0o700 });
    await chown(join(folder, 'keys'), 12_345, 12_345);
    const elsewhere = join(givenFolder(), 'key');
    await copyFile(keyFile, elsewhere);

    const { code, stdout } = await init('--name=lb-1', `--api-key-file=${elsewhere}`);

    expect(code).toBe(0);
    expect(stdout).toMatch(/, and the key into \S+\/keys\/lb-1\.key, for its owner alone\. Next:/);
    expect(stdout, 'the next step is a check with the rights of the exporter').toMatch(
      /Next:\n {2}sudo (?:-u zlb-exporter zlb-exporter check |systemctl start zlb-exporter-check;)/,
    );
    expect(await text()).toContain('api_key_file: keys/lb-1.key');
    expect(await stat(join(folder, 'keys/lb-1.key'))).toMatchObject({ uid: 12_345, mode: 0o100600 });
  });
});

describe('init without a terminal', () => {
  it('writes a configuration that the exporter can read, even under a strict umask', async () => {
    const { folder, init, keyFile } = await givenPlace();
    const before = process.umask(0o077);
    onTestFinished(() => void process.umask(before));

    const { code } = await init('--name=lb-1', `--api-key-file=${keyFile}`);

    expect(code).toBe(0);
    expect((await stat(join(folder, 'zlb.yml'))).mode & 0o777).toBe(0o644);
  });

  it('takes everything from flags, and keeps the key file path as given', async () => {
    const { folder, init, keyFile, text, check } = await givenPlace();

    const { code, stdout, stderr } = await init('--name=lb-1', `--api-key-file=${keyFile}`);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Wrote ');
    expect(await text()).toContain('api_key_file: given.key');
    expect(readdirSync(folder).toSorted()).toEqual(['given.key', 'zlb.yml']);
    expect(await check()).toMatchObject({ code: 0 });
  });

  it.each(['../lb x', 'lb paris/1', '.hidden', '-dash', 'a\\b', "it's", 'a%2f'])(
    'refuses the name %s, which would need quotes, before it asks for the key',
    async (name) => {
      const { initAnswering, init, keyFile, folder } = await givenPlace();

      const typed = await initAnswering(name);
      const given = await init(`--name=${name}`, `--api-key-file=${keyFile}`);

      for (const { code, stderr } of [typed, given]) {
        expect(code).toBe(1);
        expect(stderr).toContain('would need quotes in each command and address; use letters, digits');
      }
      expect(typed.asked).toHaveLength(1);
      expect(readdirSync(folder)).toEqual(['given.key']);
    },
  );

  it.each([
    [[], /give --name=lb-paris and --api-key-file=lb-paris\.key as well$/],
    [['--name=lb-1'], /give --api-key-file=lb-paris\.key as well$/],
    [['--api-key-file=given.key'], /give --name=lb-paris as well$/],
  ])('names the missing flags when it gets %j', async (flags, sentence) => {
    const { appliance, init } = await givenPlace();

    const { code, stdout, stderr } = await init(...flags);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(appliance.requests).toEqual([]);
  });

  it('adds an appliance to an existing configuration only when told to, and keeps the rest', async () => {
    const { file, init, keyFile, text, check, target, appliance } = await givenPlace();
    const flags = ['--name=lb-2', `--api-key-file=${keyFile}`];
    const before = [
      '# ours',
      'polling: { timeout: 5s }   # slow',
      'appliances:',
      '- name: lb-1   # the first',
      `  url: https://${target}`,
      '  api_key_file: given.key',
      `  tls: { fingerprint_sha256: ${appliance.fingerprintSha256} } # pinned`,
      '',
      '# what follows',
      'limits:',
      '    body_bytes: 4MiB',
    ];
    await writeFile(file, before.join('\n'), { mode: 0o640 });

    const refused = await init(...flags);
    const kept = await text();
    const added = await init(...flags, '--append');

    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/zlb\.yml exists; .*--append/)]);
    expect(kept).toBe(before.join('\n'));
    expect({ code: added.code, stderr: added.stderr }).toEqual({ code: 0, stderr: '' });
    const lines = (await text()).split('\n');
    expect(lines.slice(7, 12)).toEqual([
      '- name: lb-2',
      `  url: https://${target}`,
      '  api_key_file: given.key',
      '  tls:',
      `    fingerprint_sha256: ${appliance.fingerprintSha256}`,
    ]);
    expect([...lines.slice(0, 7), ...lines.slice(12)]).toEqual([...before, '']);
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    expect(await check()).toMatchObject({ code: 0, stdout: expect.stringContaining('2 appliances') as string });
  });

  it.skipIf(process.getuid?.() !== 0)(
    'keeps the owner and the group of the configuration, who can still read it',
    async () => {
      const { file, init, keyFile } = await givenPlace();
      await writeFile(file, '# settings of this machine', { mode: 0o640 });
      await chown(file, 12_345, 23_456);

      const { code } = await init('--name=lb-1', `--api-key-file=${keyFile}`, '--append');

      expect(code).toBe(0);
      expect(await stat(file)).toMatchObject({ uid: 12_345, gid: 23_456 });
    },
  );

  it('ignores what a killed run left beside the configuration', async () => {
    const { file, folder, init, keyFile, text } = await givenPlace();
    await writeFile(file, '# settings of this machine');
    await writeFile(`${file}.new`, '# half');

    const { code, stderr } = await init('--name=lb-1', `--api-key-file=${keyFile}`, '--append');

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await text()).toContain('name: lb-1');
    expect((await readdir(folder)).toSorted()).toEqual(['given.key', 'zlb.yml', 'zlb.yml.new']);
  });

  it('writes through a symbolic link, and keeps the link', async () => {
    const { file, folder, init, keyFile } = await givenPlace();
    const real = join(folder, 'real.yml');
    await writeFile(real, '# settings of this machine');
    await symlink('real.yml', file);

    const { code } = await init('--name=lb-1', `--api-key-file=${keyFile}`, '--append');

    expect(code).toBe(0);
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
    expect(await readFile(real, 'utf8')).toContain('name: lb-1');
  });

  it('keeps what somebody else changes while it waits for an answer', async () => {
    const { target, file, text } = await givenPlace();
    await writeFile(file, '# before\n');

    const { code } = await run(['init', target, `--config.file=${file}`, '--name=lb-1', '--append'], async () => {
      await writeFile(file, '# meanwhile\n');
      return apiKey;
    });

    expect(code).toBe(0);
    expect(await text()).toMatch(/^# meanwhile\nappliances:/);
  });

  it.each([
    ['a name that exists already', 'appliances:\n  - { name: lb-1, url: "https://192.0.2.1", api_key: abc }\n', /name/],
    ['a list in brackets', 'appliances: [{ name: lb-2, url: "https://192.0.2.1", api_key: abc }]\n', /brackets/],
    ['a configuration with a mistake', 'poling: {}\nappliances: []\n', /poling|brackets/],
  ])('refuses %s, and writes nothing', async (_, before, sentence) => {
    const { file, folder, init, keyFile, text } = await givenPlace();
    await writeFile(file, before);

    const { code, stderr } = await init('--name=lb-1', `--api-key-file=${keyFile}`, '--append');

    expect(code).not.toBe(0);
    expect(stderr).toMatch(sentence);
    expect(await text()).toBe(before);
    expect(readdirSync(folder).toSorted()).toEqual(['given.key', 'zlb.yml']);
  });
});

describe('init that cannot verify the key', () => {
  it('says in one sentence that the key is refused', async () => {
    const { folder, init, keyFile } = await givenPlace();
    await writeFile(keyFile, 'another-key\n');

    const { code, stderr } = await init('--name=lb-1', `--api-key-file=${keyFile}`);

    expect(code).toBe(1);
    expect(stderr).toMatch(/^zlb-exporter: .* refuses the key: .*System > Users.*Nothing was written\.$/);
    expect(stderr).not.toContain('another-key');
    expect(readdirSync(folder)).toEqual(['given.key']);
  });

  it.each([
    ['nothing listens', '127.0.0.1:1', /showed no certificate: .*ECONNREFUSED.*usually 444/],
    [
      'a name without an address',
      'lb-1.invalid',
      /showed no certificate: its name lb-1\.invalid does not resolve: .*(?:ENOTFOUND|EAI_AGAIN)/,
    ],
  ])('says in one sentence that it cannot connect: %s', async (_, target, sentence) => {
    const { folder, keyFile, initAt } = await givenPlace();

    const { code, stderr } = await initAt(target, '--trust-first', '--name=lb-1', `--api-key-file=${keyFile}`);

    expect(code).toBe(1);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toContain('\n');
    expect(readdirSync(folder)).toEqual(['given.key']);
  });

  it('says that something other than the API responds', async () => {
    const { keyFile, initAt } = await givenPlace();
    const { url } = await startHttpsServer((response) => response.writeHead(404).end('<html>'));

    const { code, stderr } = await initAt(url.host, '--trust-first', '--name=lb-1', `--api-key-file=${keyFile}`);

    expect(code).toBe(1);
    expect(stderr).toMatch(/does not answer as the management API/);
  });

  it('does not send the key when the certificate changed after it was shown', async () => {
    const { folder, file } = await givenPlace();
    const { url, server, requests } = await startHttpsServer((response) => response.end());

    const { code, stderr } = await run(['init', url.host, `--config.file=${file}`, '--name=lb-1'], async () => {
      server.setSecureContext(makeMaterial());
      return apiKey;
    });

    expect(code).toBe(1);
    expect(stderr).toContain('another certificate than a moment ago, and the key was not sent: ');
    expect(requests).toEqual([]);
    expect(readdirSync(folder)).toEqual(['given.key']);
  });
});

describe('init without a terminal', () => {
  it('trusts no certificate without a flag, and sends nothing', async () => {
    const { appliance, initAt, target, keyFile, folder } = await givenPlace();
    const flags = ['--name=lb-1', `--api-key-file=${keyFile}`];

    const unsaid = await initAt(target, ...flags);
    const other = await initAt(target, ...flags, `--fingerprint=${'ab'.repeat(32)}`);

    expect(unsaid).toMatchObject({ code: 2, stderr: expect.stringContaining('--trust-first') as string });
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('The key was not sent') as string });
    expect(appliance.requests).toEqual([]);
    expect(readdirSync(folder)).toEqual(['given.key']);
  });

  it('accepts the certificate of --fingerprint, in either spelling', async () => {
    const { appliance, initAt, target, keyFile, text } = await givenPlace();
    const pairs = appliance.fingerprintSha256.toUpperCase().match(/../g)?.join(':');

    const { code } = await initAt(target, '--name=lb-1', `--api-key-file=${keyFile}`, `--fingerprint=${pairs}`);

    expect(code).toBe(0);
    expect(await text()).toContain(`fingerprint_sha256: ${appliance.fingerprintSha256}\n`);
  });

  it('accepts the authority of --ca-file, and refuses a certificate of another', async () => {
    const { appliance, initAt, target, keyFile, folder, text, check } = await givenPlace();
    await writeFile(join(folder, 'ca.pem'), appliance.certificatePem);
    await writeFile(join(folder, 'other.pem'), makeMaterial({ name: 'other' }).cert);
    const flags = ['--name=lb-1', `--api-key-file=${keyFile}`];

    expect(await initAt(target, ...flags, `--ca-file=${join(folder, 'other.pem')}`)).toMatchObject({ code: 1 });
    expect(await initAt(target, ...flags, `--ca-file=${join(folder, 'ca.pem')}`)).toMatchObject({ code: 0 });
    expect(await text()).toContain('    tls:\n      ca_file: ca.pem\n');
    expect((await check()).code).toBe(0);
  });
});
