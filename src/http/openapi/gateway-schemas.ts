import { Type } from 'typebox';
import { auditEvents } from '../../audit/record.ts';
import { roles } from '../../gateway/principal.ts';
import { problemCodes } from '../../gateway/problem.ts';

const forced = Type.Optional(Type.Array(Type.String({ description: 'A guard that X-Force overrides.' })));
const warned = Type.Optional(
  Type.Array(Type.String({ description: 'A guard that the token overrides, by its option guards: warn.' })),
);
const role = Type.Enum([...roles]);
const time = Type.String({ format: 'date-time' });

const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What happened in this very case.' }),
    code: Type.Enum([...problemCodes], { description: 'Stable; what programs go by.' }),
    remedy: Type.String({ description: 'What to do now.' }),
    request_id: Type.String({ description: 'The same as the header x-request-id, the log and the audit have.' }),
  },
  { description: 'A refusal or failure of the gateway itself (RFC 9457). Some codes bring further members.' },
);

const ApplianceErrorSchema = Type.Object(
  {
    description: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
  },
  { description: 'What appliances usually say of an error, passed on as it came. No field is promised.' },
);

export const FindingSchema = Type.Object({
  guard: Type.String(),
  severity: Type.Enum(['blocking', 'warning']),
  message: Type.String(),
  remedy: Type.String(),
});

const ParameterSchema = Type.Object({
  name: Type.String(),
  required: Type.Boolean(),
  non_blank: Type.Boolean({ description: 'An empty value is refused.' }),
  possible_values: Type.Optional(Type.Array(Type.String())),
  interval: Type.Optional(Type.String()),
  format: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  list: Type.Boolean({ description: 'It takes a list.' }),
});

const ParametersSchema = Type.Object({
  operation: Type.String(),
  route: Type.String(),
  description: Type.String(),
  parameters: Type.Array(Type.Ref('#/components/schemas/Parameter')),
});

export const DryRunSchema = Type.Object(
  {
    dry_run: Type.Literal(true),
    operation: Type.String(),
    risk: Type.String(),
    request: Type.Object({
      method: Type.String(),
      url: Type.String(),
      headers: Type.Record(Type.String(), Type.String()),
      body: Type.Unknown({ description: 'With secrets masked.' }),
    }),
    would: Type.Enum(['be sent', 'be refused']),
    because: Type.Array(Type.String()),
    confirmation: Type.Object({
      required: Type.Boolean(),
      expected: Type.Array(Type.String()),
      given: Type.Boolean(),
    }),
    validation: Type.Object({
      checked: Type.Boolean(),
      note: Type.Optional(Type.String()),
      problems: Type.Array(Type.String()),
      parameters: Type.Optional(Type.Array(Type.Ref('#/components/schemas/Parameter'))),
    }),
    findings: Type.Array(Type.Ref('#/components/schemas/Finding')),
    forced,
    warned,
    current: Type.Union([
      Type.Object({ operation: Type.String(), status: Type.Integer(), body: Type.Unknown() }),
      Type.Null(),
    ]),
  },
  { description: 'What X-Dry-Run answers: the request as it would be sent, and what speaks against it.' },
);

export const AppliancesSchema = Type.Object({
  appliances: Type.Array(
    Type.Object({
      name: Type.String(),
      edition: Type.Optional(Type.String()),
      version: Type.Optional(Type.String()),
      vip: Type.Optional(
        Type.Object(
          { connect_to: Type.Record(Type.String(), Type.String()), networks: Type.Array(Type.String()) },
          { description: 'What the collector vip may connect to; absent while it is off.' },
        ),
      ),
    }),
  ),
});

const WhoamiSchema = Type.Object({
  principal: Type.String(),
  role,
  appliances: Type.Array(Type.String({ description: 'A glob of names.' })),
  expires: Type.Union([time, Type.Null()]),
  guards: Type.Enum(['refuse', 'warn']),
});

const FreezeSchema = Type.Object({
  frozen: Type.Boolean(),
  by: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  since: Type.Optional(Type.String()),
});

export const AuditLineSchema = Type.Object({
  seq: Type.Integer(),
  hash: Type.String(),
  prev: Type.String({ description: 'The hash of the line before.' }),
  time,
  event: Type.Enum([...auditEvents]),
  request: Type.String({ description: 'The id of the request; intent and outcome share it.' }),
  principal: Type.String(),
  role: Type.String(),
  appliance: Type.Optional(Type.String()),
  operation: Type.Optional(Type.String()),
  method: Type.String(),
  path: Type.String(),
  reason: Type.Optional(Type.String()),
  forced,
  warned,
  body: Type.Optional(Type.Unknown({ description: 'With secrets masked.' })),
  status: Type.Optional(Type.Integer()),
  code: Type.Optional(Type.Enum([...problemCodes])),
  duration_ms: Type.Optional(Type.Number()),
  sent_bytes: Type.Optional(Type.Integer()),
  sent_sha256: Type.Optional(Type.String()),
  received_bytes: Type.Optional(Type.Integer()),
  uncertain: Type.Optional(Type.Literal(true, { description: 'The appliance may have done it all the same.' })),
  suppressed: Type.Optional(
    Type.Integer({
      description:
        'Refusals of the principal that were too many in a minute to be written down each; the record has no request of its own.',
    }),
  ),
  torn: Type.Optional(
    Type.Object(
      { bytes: Type.Integer(), sha256: Type.String(), text: Type.String() },
      { description: 'With `recovered`: the line that was left unfinished.' },
    ),
  ),
  after: Type.Optional(Type.String({ description: 'The file that this one goes on from.' })),
});

const AuditSchema = Type.Object({ records: Type.Array(Type.Ref('#/components/schemas/AuditLine')) });

/** The components, by name, that are not of a reply. */
export const gatewaySchemas = {
  Problem: ProblemSchema,
  ApplianceError: ApplianceErrorSchema,
  Finding: FindingSchema,
  Parameter: ParameterSchema,
  Parameters: ParametersSchema,
  DryRun: DryRunSchema,
  Appliances: AppliancesSchema,
  Whoami: WhoamiSchema,
  Freeze: FreezeSchema,
  AuditLine: AuditLineSchema,
  Audit: AuditSchema,
  Settings: Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        'Which fields an operation takes depends on the release: GET /appliances/{appliance}/parameters?operation=KEY asks the appliance. It answers an object without a field with 400 and the same list.',
      examples: [{}],
    },
  ),
} as const;
