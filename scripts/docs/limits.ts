import { storedPeriods, maxTimedFarms } from '../../src/history/farm-times.ts';
import { maxRequestSeries } from '../../src/admin/calls/admin-metrics.ts';
import { maxOpenPerPrincipal } from '../../src/admin/changes/changes.ts';
import * as proposals from '../../src/admin/changes/proposals.ts';
import { maxReasonLength } from '../../src/admin/calls/recorder.ts';
import { maxConnections as gatewayConnections } from '../../src/admin/http/admin-app.ts';
import { failureLinesPerMinute } from '../../src/admin/http/admin-app.ts';
import { maxSearches } from '../../src/admin/http/admin-routes.ts';
import { failuresPerMinute } from '../../src/admin/http/authenticate.ts';
import * as gateway from '../../src/admin/http/gateway-services.ts';
import { alertsPerMinute } from '../../src/admin/http/change-routes.ts';
import { bytesPerMinute, maxPerPrincipal as maxUploads } from '../../src/admin/http/request-bodies.ts';
import { maxBodyBytes, maxTotalBytes, maxPauseMs, minBytesPerSecond } from '../../src/admin/calls/body-memory.ts';
import { maxValues } from '../../src/admin/calls/request-body.ts';
import { maxFiles } from '../../src/admin/recipes/certificates-folder.ts';
import { endpoints } from '../../src/appliance/api/table.ts';
import { maxBufferedBytes } from '../../src/appliance/relay.ts';
import { maxNameLength, maxTextLength } from '../../src/appliance/decode.ts';
import { defaultMaxValues, maxDepth } from '../../src/appliance/reply-bounds.ts';
import { maxListed, maxListedBytes } from '../../src/history/stored-event.ts';
import { maxStored, maxReadingBytes } from '../../src/history/storage-limits.ts';
import { maxFound, maxFoundBytes, maxReadBytes } from '../../src/history/event.ts';
import { statesPerMinute } from '../../src/scheduler/reading-log.ts';
import { maxTwinDifferences } from '../../src/server/status-api.ts';
import { defaultMaxRows, maxBackends } from '../../src/appliance/wire-types.ts';
import { maxNames as maxServerNames } from '../../src/collectors/vip-targets.ts';
import { maxShards } from '../../src/config/settings.ts';
import { bytesPerPart, freeParts } from '../../src/lib/growing-buffer.ts';
import { formatDuration } from '../../src/lib/time.ts';
import { maxUses } from '../../src/state/appliance-status.ts';
import { maxHits } from '../../src/pages/status/search.ts';
import { maxNames, maxNamesLength } from '../../src/request-log/counts.ts';
import { maxLineBytes } from '../../src/request-log/frames.ts';
import { maxTimes } from '../../src/request-log/line.ts';
import * as receiver from '../../src/request-log/receiver.ts';
import { linesPerWindow, windowMs } from '../../src/request-log/request-log.ts';
import { maxWaiting as maxWaitingLines, maxWaitMs as lineWaitMs } from '../../src/request-log/waiting.ts';
import { storedReplies } from '../../src/state/appliance-state.ts';
import { maxHistory } from '../../src/state/transition-history.ts';
import { maxExpositionsAtOnce } from '../../src/server/metrics-app.ts';
import { maxHeaderSize, maxPipelined } from '../../src/server/connections.ts';
import * as password from '../../src/server/password-check.ts';
import { countedBytes, defaultLimits } from '../../src/server/unfinished-responses.ts';
import * as web from '../../src/server/web-access.ts';
import { markdownList, markdownTable } from './markdown.ts';

/** Returns the lists of docs/limits.md, from the constants that the program uses. */
export function limitLists(): Readonly<Record<string, string>> {
  return { changes: changes(), clients: clients(), replies: replies(), request_log: requestLog(), others: others() };
}

function changes(): string {
  const { maxWaiting, maxQueueWaitMs, maxDenialsPerMinute, maxBodyMs } = gateway;
  return limits([
    ['open changes of a token, without proposals', count(maxOpenPerPrincipal)],
    ['open proposals of an appliance', count(proposals.maxOpenPerAppliance)],
    ['plans of proposals for an appliance in a minute', count(proposals.maxPlansPerMinute)],
    [
      'bodies of a token that are not files',
      `${mib(bytesPerMinute)} at once, and as much a minute. Above that, 429, and the body is not read`,
    ],
    ['values in a JSON body', count(maxValues)],
    ['alerts that a token posts', `${count(alertsPerMinute)} at once, and as many a minute. Above that, 429`],
    ['a reason', `${maxReasonLength} characters, after it is decoded`],
    [
      'calls at once to an appliance',
      `1 change, \`admin.max_concurrent_per_appliance\` reads; ${maxWaiting} of each wait, at most ${maxWaiting / 2} of one token, for ${formatDuration(maxQueueWaitMs)}`,
    ],
    ['unfinished uploads of a token', count(maxUploads)],
    ['a file', `${mib(maxBodyBytes)}. Above that, 413 ([large files](admin.md#large-files))`],
    [
      `files, and answers longer than ${kib(maxBufferedBytes)}, in memory`,
      `${mib(maxBodyBytes)} of a token, ${mib(maxTotalBytes)} of all, counted while they are held. Above that, 429`,
    ],
    [
      'rate of a file, and of such an answer',
      `${kib(minBytesPerSecond)} a second at least, after ${formatDuration(maxBodyMs)} without a byte at its beginning; a pause of ${formatDuration(maxPauseMs)} at most`,
    ],
    [
      'refusals of a token that are written to the audit',
      `${count(maxDenialsPerMinute)} at once, and as many a minute; the others are counted`,
    ],
    [
      'series of `zlb_admin_requests_total`',
      `${count(maxRequestSeries)}; further requests, and those that the role or the token refuses, are counted without \`endpoint\``,
    ],
    [
      'searches of the audit',
      `1 at a time, and ${maxSearches - 1} wait; ${maxSearches / 2} of one token in all. Above that, 503`,
    ],
    [
      'wrong tokens of a network',
      `${failuresPerMinute} a minute; the log has ${count(failureLinesPerMinute)} lines a minute about those of all networks`,
    ],
    ['connections to the gateway', count(gatewayConnections)],
  ]);
}

function clients(): string {
  const { maxUnfinished, maxUnfinishedBytes, evictableAfterMs } = defaultLimits;
  return limits([
    ['time for the handshake, the headers and the first request', `${formatDuration(web.requestMs)} each`],
    ['size of headers, and of bodies (metrics listener)', `${kib(maxHeaderSize)}, ${kib(web.maxBodyBytes)}`],
    [
      'parts (chunks) of a body',
      `${freeParts}, or one for ${bytesPerPart} of its bytes. Above that it is refused and no more is read`,
    ],
    [
      'connections to the metrics listener',
      `${web.maxConnections}. Above that, the network with the most connections loses one`,
    ],
    ['pipelined requests per connection', count(maxPipelined)],
    [
      'waiting password comparisons',
      `${password.maxWaiting}, at most ${password.maxWaitingPerNetwork} of a network. Above that, the answer is 503`,
    ],
    ['expositions of `/probe`, or of `/metrics` with `appliance`, that are made at once', count(maxExpositionsAtOnce)],
    [
      `unfinished answers of a listener, of all paths, longer than ${kib(countedBytes)}`,
      `${maxUnfinished}, and ${mib(maxUnfinishedBytes)} of them. A new one replaces one that is older than ${formatDuration(evictableAfterMs)}, or one of the network and path with more of them than its own; else it gets 503`,
    ],
  ]);
}

function replies(): string {
  const larger = Map.groupBy(
    Object.values<{ readonly route: string; readonly maxValues?: number }>(endpoints).filter(
      ({ maxValues }) => maxValues !== undefined,
    ),
    ({ maxValues }) => maxValues,
  );
  const exceptions = [...larger]
    .toSorted(([one = 0], [other = 0]) => other - one)
    .map(([most = 0, rows]) => `${count(most)} for ${rows.map(({ route }) => `\`${route}\``).join(', ')}`);
  const head = ['What', 'Limit', 'Reason'];
  return markdownTable(head, [
    ['bytes', '`limits.body_bytes`, 8 MiB', '`oversize`'],
    [
      'parts (chunks)',
      `one for ${bytesPerPart} bytes of that limit; of an answer to a caller one for as many of its bytes`,
      '`oversize`; `malformed`',
    ],
    ['values', `${count(defaultMaxValues)}; ${exceptions.join('; ')}`, '`oversize`'],
    [
      'rows of one list',
      `${count(defaultMaxRows)}; ${count(maxBackends)} backends of a farm or service`,
      'the rest is left out and counted',
    ],
    ['nesting', count(maxDepth), '`malformed`'],
    ['a name, a text', `${maxNameLength}, ${count(maxTextLength)} characters`, 'it ends in a digest'],
    ['all that is kept of an appliance', `${storedReplies} times \`limits.body_bytes\``, '`oversize`'],
  ]);
}

function requestLog(): string {
  return limits([
    ['a line', `${count(maxLineBytes)} bytes`],
    [
      'lines of an appliance',
      `${count((linesPerWindow * 1_000) / windowMs)} a second, also malformed and empty ones. Above that, TCP waits, and UDP is dropped`,
    ],
    ['connections', `${receiver.maxConnections}; of one appliance ${receiver.maxConnectionsPerSender}`],
    [
      'silence on a connection',
      `${formatDuration(receiver.firstBytesMs)} before its first byte, ${formatDuration(receiver.idleMs)} after it; then it ends`,
    ],
    ['equal lines that one line stands for', count(maxTimes)],
    [
      'names of farms, services and backends of an appliance',
      `${count(maxNames)} that polling knows, and ${count(maxNamesLength)} characters of them; the others are \`unknown\``,
    ],
    [
      'requests that wait for the names of a new farm, or for the first list after a start',
      `${count(maxWaitingLines)}, for ${formatDuration(lineWaitMs)}; then they are \`unknown\`, or \`early\` lines without any list`,
    ],
  ]);
}

function others(): string {
  return limits([
    ['shards', count(maxShards)],
    [
      'events of the history',
      `${count(maxStored.file.events)} and ${mib(maxStored.file.bytes)}; ${count(maxStored.memory.events)} and ${mib(maxStored.memory.bytes)} without \`history.file\`. Above that, the appliances with the most lose their oldest: of each, first what is not a change of the configuration and no call`,
    ],
    [
      'when a farm was up',
      `${storedPeriods[0].count} hours by the hour, and ${storedPeriods[1].count} days by the day, about 5 KB for each of ${count(maxTimedFarms)} farms of an appliance`,
    ],
    ['an event', `lists ${maxListed} differences, and ${kib(maxListedBytes)} of them; the others are counted`],
    [
      'an answer of `/api/history`',
      `${count(maxFound)} events, and ${mib(maxFoundBytes)}, of ${mib(maxReadBytes)} that are searched; \`next\` leads to the older ones`,
    ],
    [
      'the last known configuration of an appliance, for comparisons',
      `${mib(maxReadingBytes)}, compressed. Above that, what was read longest ago is not compared`,
    ],
    ['`transitions` of `/api/status`', `${maxHistory}. Above that, the appliances with the most lose their oldest`],
    ['uses of certificates by farms that are described', `${count(maxUses)}; of more, none is known`],
    ['differences of twins that `/api/status` lists', `${count(maxTwinDifferences)}; the others are counted`],
    ['lines of the log about states of an appliance', `${count(statesPerMinute)} a minute; the others are counted`],
    ['hits of a search', `${maxHits} of each kind`],
    ['files in `certificates_folder`', `${count(maxFiles)}, in the folder and two levels below it`],
    ['names that the collector `vip` asks a farm for', count(maxServerNames)],
  ]);
}

function limits(rows: readonly (readonly [what: string, limit: string])[]): string {
  return markdownList(rows.map(([what, limit]) => `${what}: ${limit}`));
}

function count(number: number): string {
  return number.toLocaleString('en');
}

function kib(bytes: number): string {
  return `${bytes / 1_024} KiB`;
}

function mib(bytes: number): string {
  return `${bytes / 1_048_576} MiB`;
}
