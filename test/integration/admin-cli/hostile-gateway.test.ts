import { stat } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { recordedWorld } from '../../../simulator/scenes/recorded.ts';
import { givenAdminCli } from './given-admin-cli.ts';
import { listening } from '../../support/listening.ts';

const hostile = '\u001b]0;owned\u0007\u009b2J\u202eall is well';
const mebibyte = Buffer.alloc(1_048_576, 'x');

/** Something in the place of a gateway, and the command line that asks it. */
async function given(answer: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('x-request-id', 'r-1');
    answer(response);
  });
  const port = await listening(server);
  const cli = await givenAdminCli({ 'lb-1': recordedWorld() });
  return {
    ...cli,
    run: (words: readonly string[], typed: Parameters<typeof cli.run>[1] = {}) =>
      cli.run(['admin', ...words, `--admin.url=http://127.0.0.1:${port}`], typed),
  };
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** 80 MiB in pieces, or less when nobody listens any more. */
function flood(response: ServerResponse, type: string, status = 200): void {
  response.writeHead(status, { 'content-type': type });
  let left = 80;
  const more = (): void => {
    while (left > 0) {
      left -= 1;
      if (!response.write(mebibyte)) return;
    }
    response.end();
  };
  response.on('drain', more);
  more();
}

describe('an endless response', () => {
  it.each([
    ['a refusal', ['lb-1', 'listFarms'], 'application/problem+json', 503],
    ['a response', ['lb-1', 'listFarms'], 'application/json', 200],
    ['what a recipe reads', ['lb-1', 'restart-farm', 'farm=shop', '--dry-run'], 'application/json', 200],
  ])('is aborted at the limit when it is buffered in memory: %s', async (_name, words, type, status) => {
    const { run } = await given((response) => flood(response, type, status));

    const { code, out, err, bytes } = await run(words);

    expect({ code, out, length: bytes.length }).toEqual({ code: 1, out: '', length: 0 });
    expect(err).toMatch(/The answer is too long\n {2}Reading ended after 32 MiB\.\n.*--output=FILE/);
  });

  it('is written to a file whatever its length', async () => {
    const { run, folder } = await given((response) => flood(response, 'application/json'));

    const { code, out } = await run(['lb-1', 'listFarms', `--output=${folder}/all.json`]);

    expect({ code, out }).toEqual({ code: 0, out: '83886080 bytes are saved.' });
    expect((await stat(`${folder}/all.json`)).mode & 0o777).toBe(0o600);
  });
});

describe('a malicious response', () => {
  it('is not printed to a terminal when it is a file, not even with --json', async () => {
    const { run } = await given((response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-disposition': 'attachment; filename=x' })
        .end(hostile),
    );
    const words = ['lb-1', 'listFarms', '--json'];

    const shown = await run(words, { terminal: true });
    const piped = await run(words);

    expect(shown).toMatchObject({ code: 1, out: '', bytes: Buffer.alloc(0) });
    expect(shown.err).toContain('Repeat it with --output=FILE.');
    expect(piped).toMatchObject({ code: 0, bytes: Buffer.from(hostile) });
  });

  it('cannot send control characters to the terminal in a dry run', async () => {
    const dryRun = {
      dry_run: true,
      operation: hostile,
      risk: hostile,
      would: 'be sent',
      because: [hostile],
      request: { method: hostile, url: hostile, headers: {}, body: { [hostile]: hostile } },
      findings: ['blocking', 'warning'].map((severity) => ({
        guard: hostile,
        severity,
        message: hostile,
        remedy: hostile,
      })),
      validation: { checked: true, problems: [hostile], note: hostile },
      confirmation: { required: true, expected: [hostile], given: false },
      current: { operation: hostile, status: 200, body: { [hostile]: [hostile] } },
    };
    const { run } = await given((response) => json(response, 200, dryRun));

    const dry = await run(['lb-1', 'actOnFarm', 'farmname=shop', 'action=stop', '--dry-run']);
    const sent = await run(['lb-1', 'actOnFarm', 'farmname=shop', 'action=stop', '--force', '--reason=x', '--yes']);

    expect(dry.out).toContain('all is well');
    expect(sent.err).toContain('all is well');
    expect(`${dry.out}${sent.err}`.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  });

  it('is not reported as an executed change when it ends in the middle', async () => {
    const change = {
      id: 'ch-1',
      state: 'approved',
      appliance: 'lb-1',
      title: hostile,
      parameters: {},
      force: false,
      requested_by: 'admin',
      reason: null,
      alerts: [],
      created: '2026-11-26T07:00:00.000Z',
      expires: '2026-11-26T07:30:00.000Z',
      digest: 'ab'.repeat(32),
      plan: { facts: [hostile], steps: [] },
      decision: null,
      outcome: null,
      may: [],
      cannot_approve: null,
    };
    const events = [
      { event: 'started', change },
      { event: 'begin', step: 1, title: hostile },
      { event: 'wait', step: 1, line: hostile },
      { event: 'end', step: 1, ok: true, line: `✓ 1. ${hostile}` },
    ];
    const { run } = await given((response) =>
      response
        .writeHead(200, { 'content-type': 'application/x-ndjson' })
        .end(`\n${events.map((each) => JSON.stringify(each)).join('\n\n')}\n`),
    );

    const { code, out, err } = await run(['lb-1', 'backup', '--reason=x', '--yes']);

    expect(code).toBe(1);
    expect(out.match(/all is well/g)).toHaveLength(3);
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(err).toMatch(/The gateway stopped answering[^]*admin changes show ch-1 shows what became of it/);
  });

  it('cannot send control characters to the terminal in a change', async () => {
    const finding = { guard: hostile, severity: 'blocking', message: hostile, remedy: hostile };
    const step = {
      title: hostile,
      call: {
        operation: hostile,
        risk: hostile,
        method: hostile,
        url: hostile,
        body: { [hostile]: 'y'.repeat(5_000) },
      },
      findings: [finding],
      because: [hostile],
      current: { operation: hostile, status: 200, body: { [hostile]: [hostile] } },
    };
    const at = '2026-11-26T07:00:00.000Z';
    const request = {
      id: hostile,
      state: 'pending',
      appliance: hostile,
      title: hostile,
      parameters: { [hostile]: hostile },
      force: true,
      requested_by: hostile,
      reason: hostile,
      created: at,
      expires: at,
      digest: 'ab'.repeat(32),
      alerts: [{ name: hostile, summary: hostile, since: hostile }],
      plan: { facts: [hostile], steps: [step] },
      decision: { by: hostile, what: 'denied', reason: hostile, at },
      outcome: { at, lines: [hostile], code: null },
      may: [],
      cannot_approve: hostile,
    };
    const { run } = await given((response) =>
      json(response, 200, response.req.url?.startsWith('/changes?') ? { changes: [request] } : request),
    );

    const listed = await run(['changes']);
    const shown = await run(['changes', 'show', 'ch-1']);
    const approved = await run(['changes', 'approve', 'ch-1', '--digest=1', '--yes', '--watch']);

    expect([listed.code, shown.code, approved.code]).toEqual([0, 0, 1]);
    expect(shown.out).toMatch(/… and 1\d\d\d more characters; --json shows all/);
    for (const { out } of [listed, shown, approved]) {
      expect(out).toContain('all is well');
      expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    }
  });

  it('cannot make the command print its token', async () => {
    const { run, tokenOf } = await given((response) =>
      response
        .writeHead(401, { 'content-type': 'application/problem+json' })
        .end(JSON.stringify({ title: 'No', detail: `${response.req.headers.authorization} is wrong`, remedy: '' })),
    );

    const { err } = await run(['whoami']);

    expect(err).toContain('Bearer [redacted] is wrong');
    expect(err).not.toContain(tokenOf('admin'));
  });
});
