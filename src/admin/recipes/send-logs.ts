import { parseListenAddress } from '../../lib/address.ts';
import { adminCommand, oneLine } from '../../lib/text.ts';
import { AdminError, refusal } from '../policy/admin-error.ts';
import { jsonContent, type Write } from './calls.ts';
import { callStep, type Recipe } from './recipe.ts';

/** Takes its parameters as the appliance describes them, or not at all: no document has them. */
export const sendLogs: Recipe = {
  name: 'send-logs',
  about: 'send the system log to an exporter that counts requests; to=off ends it',
  parameters: { to: 'required' },
  async plan({ calls: { appliance, dryRun, parametersOf }, params: { to = '' } }) {
    const { host, port } = parseListenAddress(to) ?? { host: '', port: 0 };
    if (to !== 'off' && (host === '' || port === 0))
      throw refusal(
        `${to} is not an address with a port`,
        'Say where the exporter listens: to=192.0.2.5:5514, or to=off.',
      );
    const set: Write = { operationId: 'setRemoteSyslog', params: {}, content: jsonContent({}) };
    const { current } = await dryRun(set);
    const described = await parametersOf(set).catch((error: unknown) => {
      // Community Editions answer 404.
      if (error instanceof AdminError && error.code === 'upstream_malformed') return error;
      throw error;
    });
    const parameters = described instanceof AdminError ? [] : described.parameters;
    const file = '/etc/rsyslog.d/90-zlb-exporter.conf';
    // Its queue drops lines when it is full: a slow or missing receiver delays no logging.
    const line = `if $programname == "pound" or $programname == "zproxy" then action(type="omfwd" target="${host}" port="${port}" protocol="tcp" queue.type="LinkedList" queue.size="10000" queue.timeoutEnqueue="0" action.resumeRetryCount="-1" action.resumeInterval="1")`;
    if (parameters.length === 0)
      throw new AdminError(`${appliance} does not say how to set where its log goes`, {
        detail: `${described instanceof AdminError ? described.message : 'It describes no parameters of that call.'} Nothing was changed.`,
        remedy: `If it has no such call, restart rsyslog there after this: ${to === 'off' ? `remove ${file}` : `write to ${file} the line ${line}`}`,
      });
    const facts = [`Its remote syslog is now: ${oneLine(JSON.stringify(current?.body ?? 'not readable'), 1_000)}`];
    if (to === 'off') {
      const write: Write = { operationId: 'removeRemoteSyslog', params: {} };
      const title = 'Remove its remote syslog';
      return { facts, steps: [callStep({ title, write, done: 'It sends its log nowhere.' })] };
    }
    const fields = parameters.flatMap(({ name, required, possible_values: words }) => {
      if (/^(?:\w+_)?(?:ip|host|address|server)$/i.test(name)) return [[name, host]];
      if (/^(?:\w+_)?port$/i.test(name)) return [[name, String(port)]];
      if (/^(?:\w+_)?proto(?:col)?$/i.test(name)) return [[name, words?.find((word) => /^tcp$/i.test(word))]];
      return required ? [[name, undefined]] : [];
    });
    if (fields.length !== 3 || fields.some(([, value]) => value === undefined))
      throw refusal(
        `${appliance} takes ${parameters.map(({ name }) => name).join(', ')}, not just an address, a port and TCP`,
        `Send it by hand, with name=value for these: ${adminCommand(appliance, set.operationId)}`,
      );
    const write = { ...set, content: jsonContent(Object.fromEntries(fields)) };
    const done = 'The appliance accepted it. zlb_request_log_lines_total shows what comes.';
    const undoCommand = adminCommand(appliance, 'send-logs', 'to=off');
    return { facts, steps: [callStep({ title: `Send its log to ${to} by TCP`, write, done, undoCommand })] };
  },
};
