import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeToken } from '../../../src/commands/token.ts';
import { busyWorld } from '../../../simulator/scenes/busy.ts';
import { deactivatedWorld } from '../../../simulator/scenes/expiring.ts';
import { givenAdminCli } from './given-admin-cli.ts';

const stopBody = '{"action":"stop"}';

describe('a single operation', () => {
  it('shows what the appliance answers, and the exact bytes for scripts', async () => {
    const { run, call } = await givenAdminCli({ 'lb-1': busyWorld() });

    const people = await run(['admin', 'lb-1', 'listFarms']);
    const scripts = await run(['admin', 'lb-1', '/farms', '--json']);

    expect(people.code).toBe(0);
    expect(people.out).toMatch(/^farmname +profile +status +vip +vport\n/);
    expect(people.out).toMatch(/^shop +https +problem +192\.0\.2\.40 +443$/m);
    expect(scripts).toMatchObject({ code: 0, out: '', err: '' });
    expect(scripts.bytes).toEqual((await call('GET', '/appliances/lb-1/farms')).bytes);
  });

  it('changes something, with the reason in the audit', async () => {
    const { run, appliance, audit } = await givenAdminCli({ 'lb-1': busyWorld() });

    const words = ['admin', 'lb-1', 'PUT', '/farms/shop/actions', 'action=stop', '--reason=wartung für 100%', '--yes'];
    const { code, out } = await run(words);

    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('stop is done.') });
    expect(appliance.world.farms.get('shop')?.running).toBe(false);
    expect(await audit()).toContainEqual(
      expect.objectContaining({ event: 'intent', operation: 'actOnFarm', reason: 'wartung für 100%' }),
    );
  });

  it('tells a refusal of the appliance from one of the gateway, on standard error and with 1', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld() });

    const byAppliance = await run(['admin', 'lb-1', 'readFarm', 'farmname=nope', '--json']);
    const byGateway = await run(['admin', 'lb-1', 'listBackups', '--json'], { as: 'nobody' });
    const unknown = await run(['admin', 'lb-9', 'listFarms']);

    expect(byAppliance).toMatchObject({ code: 1, out: '' });
    expect(byAppliance.err).toMatch(
      /^zlb-exporter: lb-1 answered 404\n {2}There is no farm nope\.\n.*\n {2}request \S+$/,
    );
    expect(JSON.parse(byAppliance.bytes.toString())).toMatchObject({ error: 'true' });
    expect(byGateway.code).toBe(1);
    expect(JSON.parse(byGateway.bytes.toString())).toMatchObject({ code: 'unauthenticated', status: 401 });
    expect(byGateway.err).toContain('Here: --admin.token-file=PATH');
    expect(unknown.err).toMatch(
      /^zlb-exporter: No such appliance\n.*\n.*zlb-exporter admin appliances\.\n {2}code unknown_appliance, /,
    );
  });

  it('names the parameters that are missing, and asks nothing of the appliance but these', async () => {
    const { run, done } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code, err } = await run(['admin', 'lb-1', 'createFarm']);
    const forced = await run(['admin', 'lb-1', 'createFarm', '--force', '--reason=x', '--yes']);

    expect(code).toBe(1);
    expect(err).toMatch(
      /^zlb-exporter: createFarm was not sent: the gateway would send it, and the appliance would refuse it\.\n[^]*farmname is required and not there\./,
    );
    expect(forced.err).toContain('It takes copy_from, farmname, profile, vip, vport; zlb-exporter admin parameters');
    expect(await done()).toEqual(['createFarm']);
  });

  it('shows what a guard finds where the token lets it through, before it asks', async () => {
    const { token } = makeToken();
    const tokens = [{ token, name: 'old', role: 'operator', guards: 'warn' }] as const;
    const { run, done } = await givenAdminCli({ 'lb-1': busyWorld() }, { tokens });
    const words = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=start'];

    const declined = await run(words, { as: token, answers: ['n'] });
    const refused = await run(words, { as: 'operator', answers: ['n'] });

    expect(declined.asked.join() + declined.out + declined.err).toContain('hard_restart: The farm shop is running');
    expect(refused.err).toContain('actOnFarm was not sent: it would be refused.');
    expect(await done()).toEqual([]);
  });

  it('does not show the key of a machine that is deactivated', async () => {
    const { run } = await givenAdminCli({ 'lb-1': deactivatedWorld() });

    const { err } = await run(['admin', 'lb-1', 'listFarms']);

    expect(err).toContain('lb-1 answered 402');
    expect(err).toContain('install an activation certificate');
    expect(err).not.toContain('machine-of');
  });
});

describe('a destructive operation', () => {
  const words = ['admin', 'lb-1', 'deleteFarm', 'farmname=legacy'];

  it('is explained without a terminal, and nothing is sent', async () => {
    const { run, changes } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code, err } = await run(words);

    expect(code).toBe(2);
    expect(err).toMatch(
      /(?:^|\n)Nothing was done: no terminal is there to ask for your agreement; repeat it with --confirm=legacy --yes\.$/,
    );
    expect(changes()).toEqual([]);
  });

  it('is done once its name is typed, or given', async () => {
    const { run, changes } = await givenAdminCli({ 'lb-1': busyWorld() });

    const typed = await run(words, { answers: ['legacy'] });
    const given = await run(['admin', 'lb-1', 'deleteFarm', 'farmname=payments', '--confirm=payments', '--yes']);

    expect(typed).toMatchObject({
      code: 0,
      asked: ['\ndeleteFarm on lb-1 cannot be undone. Type legacy to go on: '],
    });
    expect(given.code).toBe(0);
    expect(changes()).toEqual(['DELETE /farms/legacy', 'DELETE /farms/payments']);
  });

  it('is not done when another name is typed, or given', async () => {
    const { run, changes } = await givenAdminCli({ 'lb-1': busyWorld() });

    for (const answer of ['shop', '', 'LEGACY'])
      expect(await run(words, { answers: [answer] })).toMatchObject({
        code: 2,
        err: expect.stringMatching(/(?:^|\n)Nothing was done: that is not legacy\.$/),
      });
    const given = await run([...words, '--confirm=shop', '--yes']);

    expect(given).toMatchObject({
      code: 1,
      err: expect.stringContaining('deleteFarm was not sent: it would be refused.'),
    });
    expect(changes()).toEqual([]);
  });
});

describe('a dry run', () => {
  it('shows request, findings and the object as it is, and changes nothing', async () => {
    const { run, appliance } = await givenAdminCli({ 'lb-1': busyWorld() });

    const words = ['updateService', 'farmname=shop', 'service=front', 'redirect=https://example.com/'];
    const { code, out } = await run(['admin', 'lb-1', ...words, '--dry-run']);

    expect(code).toBe(1);
    expect(out).toMatch(
      /^Dry run of updateService \(disruptive\): it would be refused\.\n {2}✗ redirect_deletes_backends: /,
    );
    expect(out).toMatch(/\nRequest\n {2}PUT https:\/\/\S+\/farms\/shop\/services\/front\n {2}\{"redirect":"https:/);
    expect(out).toMatch(/\nNow \(readService\)\n/);
    expect(appliance.world.farms.get('shop')).toMatchObject({ services: [{ redirect: '' }, { redirect: '' }] });
  });

  it('says it when the appliance would refuse what the gateway would send', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld() });

    const { code, out } = await run(['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=pause', '--dry-run']);

    expect(code).toBe(1);
    expect(out).toMatch(
      /^Dry run of actOnFarm \(reversible\): the gateway would send it, and the appliance would refuse it\.\n {2}✗ action /,
    );
  });
});

describe('a change that a guard blocks', () => {
  const words = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=start'];

  it('is explained, and done only with --force and a reason', async () => {
    const { run, audit } = await givenAdminCli({ 'lb-1': busyWorld() });

    const guarded = await run(words);
    const forced = await run([...words, '--force', '--reason=TICKET-42', '--yes']);

    expect(guarded.code).toBe(1);
    expect(guarded.err).toContain('--force --reason=TEXT overrides guards');
    expect(forced.code).toBe(0);
    expect(await audit()).toContainEqual(
      expect.objectContaining({ event: 'intent', forced: ['hard_restart'], reason: 'TICKET-42' }),
    );
  });
});

describe('agreement to a change', () => {
  const stop = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=stop'];

  it.each([
    ['that a guard warns of', stop],
    ['with the answer for scripts', [...stop, '--json']],
  ])('is needed for a change %s: by --yes, or by an answer on a terminal', async (_case, words) => {
    const { run, done } = await givenAdminCli({ 'lb-1': busyWorld() });

    const silent = await run(words);
    const declined = await run(words, { answers: [''] });
    const before = await done();
    const agreed = await run(words, { answers: ['y'] });
    const forced = await run([...words, '--yes']);

    expect(silent).toMatchObject({ code: 2, out: '' });
    expect(silent.err).toContain('  ! stop_farm: ');
    expect(silent.err).toMatch(
      /(?:^|\n)Nothing was done: no terminal is there to ask for your agreement; repeat it with --yes\.$/,
    );
    expect(declined).toMatchObject({ code: 2, asked: ['\nGo on with actOnFarm on lb-1? [y/N] '] });
    expect(declined.err).toMatch(/(?:^|\n)Nothing was done\.$/);
    expect(before).toEqual([]);
    expect([agreed.code, forced.code]).toEqual([0, 0]);
    expect(await done()).toEqual(['actOnFarm', 'actOnFarm']);
  });

  it('is never asked for by a read or a dry run', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld() });

    for (const words of [['listFarms'], [...stop.slice(2), '--dry-run'], ['restart-farm', 'farm=shop', '--dry-run']]) {
      const alone = await run(['admin', 'lb-1', ...words]);
      const onTerminal = await run(['admin', 'lb-1', ...words], { answers: [] });

      expect([alone.code, onTerminal.code, onTerminal.asked]).toEqual([0, 0, []]);
    }
  });

  it('is not asked for where standard input is the body', async () => {
    const { run, done } = await givenAdminCli({ 'lb-1': busyWorld() });

    const words = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', '--body=-'];
    const refused = await run(words, { input: stopBody, answers: ['y'] });
    const nothing = await done();
    const agreed = await run([...words, '--yes'], { input: stopBody });

    expect(refused).toMatchObject({ code: 2, asked: [] });
    expect(refused.err).toMatch(/\nNothing was done: standard input is the body.* repeat it with --yes\.$/);
    expect(nothing).toEqual([]);
    expect(agreed.code).toBe(0);
  });
});

describe('files', () => {
  it('go up from a file or from standard input, as they are', async () => {
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

  it('come down into one that is new, and for its owner alone, or leave nothing behind', async () => {
    const { run, folder } = await givenAdminCli({ 'lb-1': busyWorld() });
    const path = join(folder, 'backup.tar.gz');
    const words = ['admin', 'lb-1', 'downloadBackup', 'name=before-upgrade', `--output=${path}`];

    const saved = await run(words);
    const again = await run(words);
    const { code } = await run(['admin', 'lb-1', 'downloadBackup', 'name=nope', `--output=${folder}/nothing`]);
    const stop = ['admin', 'lb-1', 'actOnFarm', 'farmname=shop', 'action=stop', `--output=${folder}/nothing`];
    await run(stop, { answers: ['n'] });

    expect(saved).toMatchObject({ code: 0, err: '', out: '35 bytes are saved.' });
    expect(await readFile(path, 'utf8')).toBe('the configuration in before-upgrade');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(again).toMatchObject({ code: 2, err: expect.stringContaining('the file exists already') });
    expect(code).toBe(1);
    await expect(stat(`${folder}/nothing`)).rejects.toThrow('ENOENT');
  });

  it('never reach a terminal, and a pipe as they are', async () => {
    const { run } = await givenAdminCli({ 'lb-1': busyWorld() });
    const words = ['admin', 'lb-1', 'downloadCertificate', 'file=intranet.pem'];

    const shown = await run(words, { terminal: true });
    const piped = await run(words);

    expect(shown).toMatchObject({ code: 1, out: '' });
    expect(shown.err).toContain('Repeat it with --output=FILE.');
    expect(piped.code).toBe(0);
    expect(piped.bytes.toString()).toContain('PRIVATE KEY');
  });
});
