import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeToken } from '../../../src/commands/token.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { deactivatedWorld } from '../../../simulator/scenes/expiring.ts';
import { givenAdminCli } from './given-admin-cli.ts';

const stopBody = '{"action":"stop"}';

describe('a single operation', () => {
  it('shows the response of the appliance, and its exact bytes for scripts', async () => {
    const { run, call, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const people = await run(['admin', 'lb-1', 'listFarms']);
    const scripts = await run(['admin', 'lb-1', '/farms', '--json']);

    expect(people.code).toBe(0);
    expect(scripts).toMatchObject({ code: 0, out: '', err: '' });
    expect(scripts.bytes).toEqual((await call('GET', '/appliances/lb-1/farms')).bytes);
    expect(session()).toMatchSnapshot();
  });

  it('changes a setting, with the reason in the audit', async () => {
    const { run, appliance, audit } = await givenAdminCli({ 'lb-1': busyWorld() });

    const words = ['admin', 'lb-1', 'PUT', '/farms/shop/actions', 'action=stop', '--reason=wartung für 100%', '--yes'];
    const { code } = await run(words);

    expect(code).toBe(0);
    expect(appliance.world.farms.get('shop')?.running).toBe(false);
    expect(await audit()).toContainEqual(
      expect.objectContaining({ event: 'intent', operation: 'actOnFarm', reason: 'wartung für 100%' }),
    );
  });

  it('distinguishes a refusal of the appliance from one of the gateway, on standard error with exit code 1', async () => {
    const { run, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const byAppliance = await run(['admin', 'lb-1', 'readFarm', 'farmname=nope', '--json']);
    const byGateway = await run(['admin', 'lb-1', 'listBackups', '--json'], { as: 'nobody' });
    const unknown = await run(['admin', 'lb-9', 'listFarms']);

    expect(byAppliance).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(byAppliance.bytes.toString())).toMatchObject({ error: 'true' });
    expect(byGateway.code).toBe(1);
    expect(JSON.parse(byGateway.bytes.toString())).toMatchObject({ code: 'unauthenticated', status: 401 });
    expect(unknown.err).toContain('code unknown_appliance, ');
    expect(session()).toMatchSnapshot();
  });

  it('names the missing parameters, and asks the appliance only for these', async () => {
    const { run, done, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code } = await run(['admin', 'lb-1', 'createFarm']);
    const forced = await run(['admin', 'lb-1', 'createFarm', '--force', '--reason=x', '--yes']);

    expect([code, forced.code]).toEqual([1, 1]);
    expect(await done()).toEqual(['createFarm']);
    expect(session()).toMatchSnapshot();
  });

  it('shows the findings of a guard before the prompt, when the token only warns', async () => {
    const { token } = makeToken();
    const tokens = [{ token, name: 'old', role: 'operator', guards: 'warn' }] as const;
    const { run, done, session } = await givenAdminCli({ 'lb-1': busyWorld() }, { tokens });
    const words = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=start'];

    const declined = await run(words, { as: token, answers: ['n'] });
    const refused = await run(words, { as: 'operator', answers: ['n'] });

    for (const { out, err } of [declined, refused]) expect(out + err).toContain('hard_restart: ');
    expect([declined.asked.length, refused.asked.length]).toEqual([1, 0]);
    expect(await done()).toEqual([]);
    expect(session()).toMatchSnapshot();
  });

  it('does not show the activation key of a deactivated appliance', async () => {
    const { run, session } = await givenAdminCli({ 'lb-1': deactivatedWorld() });

    const { err } = await run(['admin', 'lb-1', 'listFarms']);

    expect(err).not.toContain('machine-of');
    expect(session()).toMatchSnapshot();
  });
});

describe('a destructive operation', () => {
  const words = ['admin', 'lb-1', 'deleteFarm', 'farmname=legacy'];

  it('is explained without a terminal, and nothing is sent', async () => {
    const { run, changes, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code } = await run(words);

    expect(code).toBe(2);
    expect(changes()).toEqual([]);
    expect(session()).toMatchSnapshot();
  });

  it('is executed once the name is typed at the prompt, or passed as a flag', async () => {
    const { run, changes, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const typed = await run(words, { answers: ['legacy'] });
    const given = await run(['admin', 'lb-1', 'deleteFarm', 'farmname=payments', '--confirm=payments', '--yes']);

    expect([typed.code, given.code]).toEqual([0, 0]);
    expect(changes()).toEqual(['DELETE /farms/legacy', 'DELETE /farms/payments']);
    expect(session()).toMatchSnapshot();
  });

  it('is refused when another name is typed or passed', async () => {
    const { run, changes, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    for (const answer of ['shop', '', 'LEGACY']) expect((await run(words, { answers: [answer] })).code, answer).toBe(2);
    const given = await run([...words, '--confirm=shop', '--yes']);

    expect(given.code).toBe(1);
    expect(changes()).toEqual([]);
    expect(session()).toMatchSnapshot();
  });
});

describe('a dry run', () => {
  it('shows the request, the findings and the current object, and changes nothing', async () => {
    const { run, appliance, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const words = ['updateService', 'farmname=shop', 'service=front', 'redirect=https://example.com/'];
    const { code, out } = await run(['admin', 'lb-1', ...words, '--dry-run']);

    expect(code).toBe(1);
    expect(out).toContain('✗ redirect_deletes_backends: ');
    expect(appliance.world.farms.get('shop')).toMatchObject({ services: [{ redirect: '' }, { redirect: '' }] });
    expect(session()).toMatchSnapshot();
  });

  it('says when the appliance would refuse the request of the gateway', async () => {
    const { run, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code } = await run(['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=pause', '--dry-run']);

    expect(code).toBe(1);
    expect(session()).toMatchSnapshot();
  });
});

describe('a change blocked by a guard', () => {
  const words = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=start'];

  it('is explained, and is executed only with --force and a reason', async () => {
    const { run, audit, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const guarded = await run(words);
    const forced = await run([...words, '--force', '--reason=TICKET-42', '--yes']);

    expect([guarded.code, forced.code]).toEqual([1, 0]);
    expect(await audit()).toContainEqual(
      expect.objectContaining({ event: 'intent', forced: ['hard_restart'], reason: 'TICKET-42' }),
    );
    expect(session()).toMatchSnapshot();
  });
});

describe('consent to a change', () => {
  const stop = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=stop'];

  it.each([
    ['that a guard warns of', stop],
    ['with --json', [...stop, '--json']],
  ])('needs --yes or an answer at the terminal for a change %s', async (_case, words) => {
    const { run, done, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const silent = await run(words);
    const declined = await run(words, { answers: [''] });
    const before = await done();
    const agreed = await run(words, { answers: ['y'] });
    const forced = await run([...words, '--yes']);

    expect(silent).toMatchObject({ code: 2, out: '' });
    expect(silent.err).toContain('  ! stop_farm: ');
    expect(declined.code).toBe(2);
    expect(before).toEqual([]);
    expect([agreed.code, forced.code]).toEqual([0, 0]);
    expect(await done()).toEqual(['actOnFarm', 'actOnFarm']);
    expect(session()).toMatchSnapshot();
  });

  it('is never requested by a read or a dry run', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld() });

    for (const words of [['listFarms'], [...stop.slice(2), '--dry-run'], ['restart-farm', 'farm=shop', '--dry-run']]) {
      const alone = await run(['admin', 'lb-1', ...words]);
      const onTerminal = await run(['admin', 'lb-1', ...words], { answers: [] });

      expect([alone.code, onTerminal.code, onTerminal.asked]).toEqual([0, 0, []]);
    }
  });

  it('is not requested when standard input is the request body', async () => {
    const { run, done, session } = await givenAdminCli({ 'lb-1': busyWorld() });

    const words = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', '--body=-'];
    const refused = await run(words, { input: stopBody, answers: ['y'] });
    const nothing = await done();
    const agreed = await run([...words, '--yes'], { input: stopBody });

    expect(refused).toMatchObject({ code: 2, asked: [] });
    expect(nothing).toEqual([]);
    expect(agreed.code).toBe(0);
    expect(session()).toMatchSnapshot();
  });
});

describe('a single operation with files', () => {
  it('uploads a file or standard input, byte by byte', async () => {
    const { run, file, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });
    const pem = await file('new.pem', '-----BEGIN CERTIFICATE-----\nno real one\n-----END CERTIFICATE-----\n');

    const fromFile = await run(['admin', 'lb-1', 'uploadCertificate', 'file=new.pem', `--body=@${pem}`, '--yes']);
    const piped = await run(['admin', 'lb-1', 'uploadBackup', 'name=weekly', '--body=-', '--yes'], {
      input: 'H4sIAAAA',
    });

    expect([fromFile.err, piped.err]).toEqual(['', '']);
    expect(appliance.world.certificates.get('new.pem')?.pem).toContain('no real one');
    expect(appliance.world.backups.has('weekly')).toBe(true);
  });

  it('downloads into a new file that only its owner can read, and leaves nothing behind on a failure', async () => {
    const { run, folder, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    const path = join(folder, 'backup.tar.gz');
    const words = ['admin', 'lb-1', 'downloadBackup', 'name=before-upgrade', `--output=${path}`];

    const saved = await run(words);
    const again = await run(words);
    const { code } = await run(['admin', 'lb-1', 'downloadBackup', 'name=nope', `--output=${folder}/nothing`]);
    const stop = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=stop', `--output=${folder}/nothing`];
    await run(stop, { answers: ['n'] });

    expect(saved).toMatchObject({ code: 0, err: '' });
    expect(await readFile(path, 'utf8')).toBe('the configuration in before-upgrade');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect([again.code, code]).toEqual([2, 1]);
    await expect(stat(`${folder}/nothing`)).rejects.toThrow('ENOENT');
    expect(session()).toMatchSnapshot();
  });

  it('never prints a file to a terminal, and writes it unchanged to a pipe', async () => {
    const { run, session } = await givenAdminCli({ 'lb-1': busyWorld() });
    const words = ['admin', 'lb-1', 'downloadCertificate', 'file=intranet.pem'];

    const shown = await run(words, { terminal: true });
    const piped = await run(words);

    expect(shown).toMatchObject({ code: 1, out: '' });
    expect(piped.code).toBe(0);
    expect(piped.bytes.toString()).toContain('PRIVATE KEY');
    expect(session()).toMatchSnapshot();
  });
});
