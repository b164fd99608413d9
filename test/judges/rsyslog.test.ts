import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import type { RequestLogSettings } from '../../src/request-log/request-log.ts';
import { givenRequestLog } from '../integration/given-request-log.ts';
import { givenFolder } from '../support/folder.ts';
import { type LoggedRequest, logged } from '../support/logged-request.ts';
import { valueOf } from '../support/samples.ts';
import { until } from '../support/until.ts';
import { judge } from './tools.ts';

const rsyslogd = judge('rsyslogd');
const lines = 100;

/** An rsyslogd that receives lines as the system log of an appliance does, and sends them on. */
async function givenRsyslog(action: string, more = '') {
  const folder = givenFolder();
  const input = await freePort();
  const configuration = join(folder, 'rsyslog.conf');
  writeFileSync(
    configuration,
    `${more}
module(load="imtcp")
input(type="imtcp" address="127.0.0.1" port="${input}")
if $programname == "pound" or $programname == "zproxy" then action(type="omfwd" target="127.0.0.1" action.resumeRetryCount="-1" action.resumeInterval="1" queue.type="LinkedList" ${action})
`,
  );
  const words = ['-n', '-f', configuration, '-i', join(folder, 'pid')];
  const program = spawn(rsyslogd ?? '', words, { stdio: 'ignore' });
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await once(program, 'exit');
  });
  await until(() => existsSync(join(folder, 'pid')), Boolean);
  const socket = connect(input, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return (count: number, part: LoggedRequest = {}) =>
    void socket.write(`<134>Nov 26 04:17:34 lb pound: ${logged(part)}\n`.repeat(count));
}

async function givenLog(receiver: RequestLogSettings['receiver']) {
  const { log, settings, page } = await givenRequestLog({ receiver });
  return {
    counted: async () => valueOf(await page(), 'zlb_requests_total', { code: '2xx' }) ?? 0,
    /** Stops listening, and listens again. */
    async restart() {
      (await log.prepare({ ...settings, receiver: {} })).commit();
      (await log.prepare(settings)).commit();
    },
  };
}

describe.skipIf(rsyslogd === undefined)('the rsyslogd of Debian', () => {
  it.each([
    ['UDP', 'protocol="udp"'],
    ['TCP, a line each', 'protocol="tcp"'],
    ['TCP, with the length of frames', 'protocol="tcp" TCP_Framing="octet-counted"'],
    ['TCP, in the form of RFC 5424', 'protocol="tcp" template="RSYSLOG_SyslogProtocol23Format"'],
    ['TCP, with exact times', 'protocol="tcp" template="RSYSLOG_ForwardFormat"'],
  ])('sends each line once by %s, even when the exporter restarts in between', async (_, action) => {
    const address = `127.0.0.1:${await freePort()}`;
    const { counted, restart } = await givenLog(
      action.startsWith('protocol="udp"') ? { listenUdp: address } : { listenTcp: address },
    );
    const send = await givenRsyslog(`port="${address.split(':')[1]}" ${action}`);
    send(lines);
    await until(counted, (count) => count === lines);

    await restart();
    send(lines);

    // A line that was under way at the restart may be lost.
    await until(counted, (count) => count > lines + lines / 2);
    send(1);
    const end = await until(counted, (count) => count > lines + lines / 2 + 1);
    expect(end).toBeLessThanOrEqual(2 * lines + 1);
  });

  it('loses no line when a connection has ended silently', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const { counted, restart } = await givenLog({ listenTcp: address });
    const send = await givenRsyslog(`port="${address.split(':')[1]}" protocol="tcp"`);
    for (let count = 1; count <= 3; count += 1) {
      send(1);
      await until(counted, (seen) => seen === count);
      await restart();
    }
  });

  it('merges repeated lines, which count each', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const { counted } = await givenLog({ listenTcp: address });
    const send = await givenRsyslog(`port="${address.split(':')[1]}" protocol="tcp"`, '$RepeatedMsgReduction on');
    send(lines);
    send(1, { code: '204' });
    await until(counted, (count) => count === lines + 1);
  });
});
