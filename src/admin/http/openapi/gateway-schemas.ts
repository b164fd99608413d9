import { Type } from 'typebox';
import { AuditLineSchema } from '../../journal/record.ts';
import { ParameterSchema } from '../../calls/discovery.ts';
import { DryRunSchema } from '../../calls/dry-run.ts';
import { FindingSchema } from '../../policy/guards/guard.ts';
import { roles } from '../../policy/principal.ts';
import { problemCodes } from '../../policy/problem.ts';
import { ChangeEventSchema, changeStates, ChangeDryRunSchema, ShownChangeSchema } from '../../changes/change.ts';
import { NotProposedSchema, AcceptedAlertsSchema } from '../../changes/proposals.ts';

const role = Type.Enum([...roles]);
const time = Type.String({ format: 'date-time' });

const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What happened in this very case.' }),
    code: Type.Enum([...problemCodes], { description: 'Stable; for programs.' }),
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
  approver: Type.Boolean({ description: 'It may decide on changes of others.' }),
  self_approval: Type.Boolean({ description: 'Approvers may also decide on their own: `admin.approvals`.' }),
  break_glass: Type.Boolean({ description: 'It may send, in an emergency, what needs approval.' }),
});

const FreezeSchema = Type.Object({
  frozen: Type.Boolean(),
  by: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  since: Type.Optional(Type.String()),
  kept: Type.Optional(
    Type.Boolean({ description: 'False while the journal cannot be written: then a restart would lift the freeze.' }),
  ),
});

/** A line of the audit, with the closed lists that the audit itself does not know. */
const ListedAuditLineSchema = Type.Object({
  ...AuditLineSchema.properties,
  state: Type.Optional(Type.Enum([...changeStates], { description: 'With `change`: its new state.' })),
  code: Type.Optional(Type.Enum([...problemCodes])),
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
  AuditLine: ListedAuditLineSchema,
  Audit: AuditSchema,
  Change: ShownChangeSchema,
  ChangeEvent: ChangeEventSchema,
  PlanOfChange: ChangeDryRunSchema,
  Changes: Type.Object({
    changes: Type.Array(Type.Omit(ShownChangeSchema, ['plan']), { description: 'Without `plan`.' }),
    not_proposed: Type.Array(NotProposedSchema, {
      description: 'Repairs of firing alerts that could not be planned; empty for a token without approver.',
    }),
  }),
  TakenAlerts: AcceptedAlertsSchema,
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
