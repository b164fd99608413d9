import { Type } from 'typebox';
import { listenerTls, mapping, value } from './schema-parts.ts';

/** The log of requests that appliances send; a file without this block receives none. */
export const requestsSchema = mapping(
  {
    listen_udp: Type.Optional(
      value('listenAddress', {
        description: 'The address on which lines are received as datagrams; `:5514` is every address.',
        examples: [':5514'],
      }),
    ),
    listen_tcp: Type.Optional(
      value('listenAddress', {
        description: 'The address on which lines are received by TCP, which loses none.',
        examples: [':5514'],
      }),
    ),
    tls: Type.Optional(listenerTls('requests', 'Without it, `listen_tcp` speaks plain TCP.')),
    buckets: Type.Array(value('duration', { above: '0s', to: '10m' }), {
      description: 'Bounds of the histogram of durations.',
      default: ['5ms', '25ms', '100ms', '300ms', '1s', '3s', '10s'],
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      examples: [['100ms', '300ms', '1s']],
    }),
  },
  {
    description: 'The requests that HTTP farms log. Off by default.',
    examples: [{ listen_tcp: ':5514' }],
  },
);

/** The part of an appliance in the log of requests. */
export const applianceRequestsSchema = mapping(
  {
    from: Type.Array(value('network', {}), {
      description: 'Networks or addresses from which its lines come. Default: the address in `url`.',
      default: [],
      examples: [['192.0.2.10', '192.0.2.11']],
    }),
    objectives: Type.Array(
      mapping({
        farm: Type.String({ description: 'The farm.', minLength: 1, examples: ['shop'] }),
        availability: Type.Optional(
          value('ratio', {
            description: 'The part of requests to answer with a status below 500.',
            from: '50%',
            to: '99.999%',
            examples: ['99.9%'],
          }),
        ),
        latency: Type.Optional(
          value('latency', {
            description:
              'The time within which a part of the requests is to be answered. The log of zproxy cannot show it.',
            examples: ['300ms for 99%'],
          }),
        ),
      }),
      {
        description: 'Objectives for the clients of a farm; alerts say when one will be missed.',
        default: [],
        examples: [[{ farm: 'shop', availability: '99.9%', latency: '300ms for 99%' }]],
      },
    ),
  },
  { description: 'Its log of requests, if there is a block `requests`.', default: {} },
);
