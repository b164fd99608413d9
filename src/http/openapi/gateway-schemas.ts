import { Type } from 'typebox';
import { AuditLineSchema } from '../../audit/record.ts';
import { ParameterSchema } from '../../gateway/discovery.ts';
import { DryRunSchema } from '../../gateway/dry-run.ts';
import { FindingSchema } from '../../gateway/guards/guard.ts';
import { roles } from '../../gateway/principal.ts';
import { problemCodes } from '../../gateway/problem.ts';
import { requestStates } from '../../requests/change-request.ts';

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

const ParametersSchema = Type.Object({
  operation: Type.String(),
  route: Type.String(),
  description: Type.String(),
  parameters: Type.Array(Type.Ref('#/components/schemas/Parameter')),
});

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
  person: Type.String({ description: 'Who holds the token.' }),
  approver: Type.Boolean({ description: 'It may decide on change requests of others.' }),
  self_approval: Type.Boolean({ description: 'Approvers may also decide on their own: `admin.approvals`.' }),
  break_glass: Type.Boolean({ description: 'It may send, in an emergency, what needs approval.' }),
});

const FreezeSchema = Type.Object({
  frozen: Type.Boolean(),
  by: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  since: Type.Optional(Type.String()),
});

/** A line of the audit, with the closed lists that the audit itself does not know. */
const ListedAuditLineSchema = Type.Object({
  ...AuditLineSchema.properties,
  state: Type.Optional(Type.Enum([...requestStates], { description: 'With `change_request`: its new state.' })),
  code: Type.Optional(Type.Enum([...problemCodes])),
});

const AuditSchema = Type.Object({ records: Type.Array(Type.Ref('#/components/schemas/AuditLine')) });

const text = Type.String();
const textOrNull = Type.Union([text, Type.Null()]);

const ChangePlanSchema = Type.Object({
  facts: Type.Array(text),
  steps: Type.Array(
    Type.Object({
      title: text,
      call: Type.Union([
        Type.Object({ operation: text, risk: text, method: text, url: text, body: Type.Unknown() }),
        Type.Null(),
      ]),
      findings: Type.Array(Type.Ref('#/components/schemas/Finding')),
      because: Type.Array(Type.String({ description: 'A reason for which the gateway would refuse it.' })),
      current: Type.Unknown({ description: 'The object as it is, or null.' }),
    }),
  ),
});

export const ChangeRequestSchema = Type.Object(
  {
    id: text,
    state: Type.Enum([...requestStates]),
    appliance: text,
    title: text,
    operation: Type.Optional(text),
    recipe: Type.Optional(text),
    parameters: Type.Record(text, text),
    force: Type.Boolean(),
    requested_by: text,
    reason: textOrNull,
    alert: Type.Union([Type.Object({ name: text, summary: textOrNull, since: text }), Type.Null()]),
    created: time,
    expires: time,
    digest: Type.String({ description: 'SHA-256 of the plan; whoever approves names it.' }),
    plan: ChangePlanSchema,
    decision: Type.Union([
      Type.Object({
        by: text,
        what: Type.Enum(['approved', 'denied', 'cancelled', 'withdrawn', 'expired']),
        reason: textOrNull,
        at: time,
      }),
      Type.Null(),
    ]),
    outcome: Type.Union([Type.Object({ at: time, lines: Type.Array(text), code: textOrNull }), Type.Null()]),
  },
  { description: 'A change that waits for another person, or what became of it.' },
);

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
  AuditLine: ListedAuditLineSchema,
  Audit: AuditSchema,
  ChangeRequest: ChangeRequestSchema,
  ChangeRequests: Type.Object({
    requests: Type.Array(Type.Ref('#/components/schemas/ChangeRequest'), { description: 'Without `plan`.' }),
  }),
  TakenAlerts: Type.Object({ proposed: Type.Integer(), withdrawn: Type.Integer(), ignored: Type.Integer() }),
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
