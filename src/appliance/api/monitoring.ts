import {
  ConnectionStatsReply,
  FarmStatsListReply,
  FarmStatsReply,
  FarmguardianListReply,
  NetworkStatsReply,
  StatsReply,
} from '../schemas.ts';
import { asksL4Daemon } from './farms.ts';
import { area, row } from './row.ts';

/** Health checks (docs/api.md §3.14 and §4.5). */
export const farmguardianEndpoints = area('farmguardian', {
  listFarmguardians:         row('GET /monitoring/fg',                         'read',        '4.0', 'list health checks and templates', { reply: FarmguardianListReply }),
  createFarmguardian:        row('POST /monitoring/fg',                        'reversible',  '4.0', 'create or copy a health check'),
  updateUnnamedFarmguardian: row('PUT /monitoring/fg',                         'disruptive',  '4.0', 'listed by the version notes, no known route'),
  readFarmguardian:          row('GET /monitoring/fg/{name}',                  'read',        '4.0', 'one health check'),
  // A running check with a wrong command takes the backends of its farms down.
  updateFarmguardian:        row('PUT /monitoring/fg/{name}',                  'disruptive',  '4.0', 'modify a health check, restarts it'),
  deleteFarmguardian:        row('DELETE /monitoring/fg/{name}',               'destructive', '4.0', 'delete a health check'),
  readFarmguardianPath:      row('GET /monitoring/fg{suffix*}/{farmguardian}', 'read',        '4.0', 'wildcard as stated for health checks'),
  updateFarmguardianPath:    row('PUT /monitoring/fg{suffix*}/{farmguardian}', 'disruptive',  '4.0', 'wildcard as stated for health checks'),
});

/** Statistics (docs/api.md §3.1-3.6). */
export const statsEndpoints = area('stats', {
  readStats:              row('GET /stats',                                              'read', '4.0', 'CPU, memory, load and network of the appliance', { reply: StatsReply, sleepsMs: 1_000 }),
  readNetworkStats:       row('GET /stats/system/network',                               'read', '4.0', 'traffic counters per interface', { reply: NetworkStatsReply }),
  listInterfaceStats:     row('GET /stats/system/network/interfaces',                    'read', null,  'interfaces with status and traffic (Enterprise)'),
  readConnectionStats:    row('GET /stats/system/connections',                           'read', null,  'total tracked connections (Enterprise)', { reply: ConnectionStatsReply }),
  readCpuStats:           row('GET /stats/system/cpu',                                   'read', null,  'CPU only (older major version)'),
  readMemoryStats:        row('GET /stats/system/memory',                                'read', null,  'memory only (older major version)'),
  readLoadStats:          row('GET /stats/system/load',                                  'read', null,  'load only (older major version)'),
  // One proxy that hangs is waited for: the list then has the addresses of all farms.
  listFarmStats:          row('GET /stats/farms',                                        'read', '4.0', 'connections and status of every farm', { reply: FarmStatsListReply, maxValues: 100_000, maxProxyWaitMs: 25_000 }),
  readFarmStats:          row('GET /stats/farms/{farmname}',                             'read', '4.0', 'backend statistics and sessions of a farm', { reply: FarmStatsReply, maxProxyWaitMs: 30_000, readSideEffect: asksL4Daemon }),
  readFarmBackendStats:   row('GET /stats/farms/{farmname}/backends',                    'read', '4.0', 'same answer as the farm statistics', { readSideEffect: asksL4Daemon }),
  readServiceStats:       row('GET /stats/farms/{farmname}/services/{service}/backends', 'read', '4.0', 'backend statistics of one service'),
  readLegacyServiceStats: row('GET /stats/farms/{farmname}/service/{service}/backends',  'read', '4.0', 'older spelling of service statistics'),
  readFarmModuleStats:    row('GET /stats/farms/modules',                                'read', null,  'reserved word, Enterprise handler expected, 404 in CE'),
  readFarmTotalStats:     row('GET /stats/farms/total',                                  'read', null,  'reserved word, Enterprise handler expected, 404 in CE'),
});

/** Graphs as PNG in base64. */
export const graphsEndpoints = area('graphs', {
  listGraphs:               row('GET /graphs',                                                    'read', '4.0', 'index of available graphs'),
  listSystemGraphs:         row('GET /graphs/system',                                             'read', '4.0', 'index of system graphs'),
  readCpuGraphs:            row('GET /graphs/system/cpu',                                         'read', '4.0', 'cpu graphs, four periods, PNG in base64'),
  readCpuGraph:             row('GET /graphs/system/cpu/{frequency}',                             'read', '4.0', 'cpu graph of one period'),
  readCustomCpuGraph:       row('GET /graphs/system/cpu/custom/start/{start}/end/{end}',          'read', null,  'cpu graph of an interval'),
  readLoadGraphs:           row('GET /graphs/system/load',                                        'read', '4.0', 'load graphs, four periods, PNG in base64'),
  readLoadGraph:            row('GET /graphs/system/load/{frequency}',                            'read', '4.0', 'load graph of one period'),
  readCustomLoadGraph:      row('GET /graphs/system/load/custom/start/{start}/end/{end}',         'read', null,  'load graph of an interval'),
  readRamGraphs:            row('GET /graphs/system/ram',                                         'read', '4.0', 'ram graphs, four periods, PNG in base64'),
  readRamGraph:             row('GET /graphs/system/ram/{frequency}',                             'read', '4.0', 'ram graph of one period'),
  readCustomRamGraph:       row('GET /graphs/system/ram/custom/start/{start}/end/{end}',          'read', null,  'ram graph of an interval'),
  readSwapGraphs:           row('GET /graphs/system/swap',                                        'read', '4.0', 'swap graphs, four periods, PNG in base64'),
  readSwapGraph:            row('GET /graphs/system/swap/{frequency}',                            'read', '4.0', 'swap graph of one period'),
  readCustomSwapGraph:      row('GET /graphs/system/swap/custom/start/{start}/end/{end}',         'read', null,  'swap graph of an interval'),
  listDiskGraphs:           row('GET /graphs/system/disk',                                        'read', '4.0', 'index of disk graphs'),
  readDiskGraphs:           row('GET /graphs/system/disk/{mount}',                                'read', '4.0', 'disk graphs, four periods'),
  readDiskGraph:            row('GET /graphs/system/disk/{mount}/{frequency}',                    'read', '4.0', 'disk graph of one period'),
  readCustomDiskGraph:      row('GET /graphs/system/disk/{mount}/custom/start/{start}/end/{end}', 'read', null,  'disk graph of an interval'),
  listInterfaceGraphs:      row('GET /graphs/interfaces',                                         'read', '4.0', 'index of interface graphs'),
  readInterfaceGraphs:      row('GET /graphs/interfaces/{name}',                                  'read', '4.0', 'interface graphs, four periods'),
  readInterfaceGraph:       row('GET /graphs/interfaces/{name}/{frequency}',                      'read', '4.0', 'interface graph of one period'),
  readCustomInterfaceGraph: row('GET /graphs/interfaces/{name}/custom/start/{start}/end/{end}',   'read', null,  'interface graph of an interval'),
  listFarmGraphs:           row('GET /graphs/farms',                                              'read', '4.0', 'index of farm graphs'),
  readFarmGraphs:           row('GET /graphs/farms/{farmname}',                                   'read', '4.0', 'farm graphs, four periods'),
  readFarmGraph:            row('GET /graphs/farms/{farmname}/{frequency}',                       'read', '4.0', 'farm graph of one period'),
  readCustomFarmGraph:      row('GET /graphs/farms/{farmname}/custom/start/{start}/end/{end}',    'read', null,  'farm graph of an interval'),
});
