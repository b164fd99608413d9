import { type Handlers, read } from '../call.ts';

const snmp = { status: 'false', ip: '*', port: '161', scope: '0.0.0.0/0' };

/** Reads that no state is behind: they answer as they were recorded. */
export const recordedHandlers: Handlers = {
  'GET /system/dns': () => read({ primary: '192.0.2.53', secondary: '' }),
  'GET /system/snmp': ({ world }) => read({ ...snmp, community: world.settings.snmpCommunity }),
};
