import type { EndpointRow } from './row.ts';

/** Log files (docs/api.md §3.12). */
export const systemLogsEndpoints = {
  listLogs: {
    route: 'GET /system/logs',
    area: 'system-logs',
    since: '4.0',
    risk: 'secret',
    body: 'none',
    summary: 'list log files',
  },
  downloadLog: {
    route: 'GET /system/logs/{file}',
    area: 'system-logs',
    since: '4.0',
    risk: 'secret',
    body: 'none',
    summary: 'download a log file',
  },
  readLogLines: {
    route: 'GET /system/logs/{file}/lines/{count}',
    area: 'system-logs',
    since: null,
    risk: 'secret',
    body: 'none',
    summary: 'last lines of a log file',
  },
} as const satisfies Record<string, EndpointRow>;
