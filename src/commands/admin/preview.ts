import { type Static, Type } from 'typebox';
import type { Decode } from '../../appliance/decode.ts';
import { isRecord } from '../../lib/check.ts';
import { oneLine } from '../../lib/text.ts';
import { AdminError, parseJson } from './admin-error.ts';
import { presentStateLines } from './present-state.ts';
import { jsonText } from './table.ts';

/** The members of the gateway's answer to a dry run that this command reads. */
const PreviewReply = Type.Object({
  operation: Type.String(),
  risk: Type.String(),
  would: Type.String(),
  because: Type.Array(Type.String()),
  request: Type.Object({ method: Type.String(), url: Type.String(), body: Type.Optional(Type.Unknown()) }),
  findings: Type.Array(
    Type.Object({ guard: Type.String(), severity: Type.String(), message: Type.String(), remedy: Type.String() }),
  ),
  warned: Type.Optional(Type.Array(Type.String())),
  validation: Type.Object({ problems: Type.Array(Type.String()), note: Type.Optional(Type.String()) }),
  confirmation: Type.Object({ required: Type.Boolean(), given: Type.Boolean() }),
  current: Type.Union([Type.Null(), Type.Object({ operation: Type.String(), body: Type.Unknown() })]),
});
export type Preview = Static<typeof PreviewReply>;

/** Checks the gateway's answer to a dry run; throws an {@link AdminError} when it does not fit. */
export function readPreview(body: Buffer, decode: Decode): Preview {
  const preview = parseJson(body);
  const checked = decode(PreviewReply, preview);
  if (checked.ok) return preview as Preview;
  throw new AdminError('The gateway answered a dry run with something else', {
    detail: checked.because,
    remedy: 'Use the same version of zlb-exporter on both sides.',
  });
}

/** True when the gateway would refuse the call, or the appliance according to its own description of the parameters. */
export function wouldFail({ would, validation }: Pick<Preview, 'would' | 'validation'>): boolean {
  return would === 'be refused' || validation.problems.length > 0;
}

/** Renders a dry run for people: the request, the objections, and the present state of the object. */
export function previewLines({ operation, risk, request, current, ...outcome }: Preview): readonly string[] {
  return [
    oneLine(`Dry run of ${operation} (${risk}): ${outcomeText(outcome)}.`, 300),
    ...objectionLines(outcome),
    '',
    'Request',
    `  ${oneLine(`${request.method} ${request.url}`, 2_000)}`,
    ...(request.body === undefined || request.body === null ? [] : [`  ${oneLine(bodyText(request.body), 4_000)}`]),
    ...(current ? ['', ...presentLines(current, request.body)] : []),
  ];
}

/** Returns the objections of the gateway and its guards to a call, each once. */
export function objectionLines({
  because,
  findings,
  validation,
}: Pick<Preview, 'because' | 'findings' | 'validation'>): readonly string[] {
  const found = findings.map(
    ({ guard, severity, message, remedy }) => `${severity === 'blocking' ? '✗' : '!'} ${guard}: ${message} ${remedy}`,
  );
  const known = new Set(findings.map(({ message }) => message));
  const others = [...because, ...validation.problems]
    .filter((sentence) => !known.has(sentence))
    .map((sentence) => `✗ ${sentence}`);
  const note = validation.note === undefined ? [] : [validation.note];
  return [...found, ...others, ...note].map((text) => `  ${oneLine(text, 2_000)}`);
}

/** Returns the warnings of guards that do not block this call, also of guards that block calls with other tokens. */
export function warningLines({ findings, warned = [] }: Pick<Preview, 'findings' | 'warned'>): readonly string[] {
  return objectionLines({
    because: [],
    findings: findings.filter(({ severity, guard }) => severity !== 'blocking' || warned.includes(guard)),
    validation: { problems: [] },
  });
}

function outcomeText({ would, validation }: Pick<Preview, 'would' | 'validation'>): string {
  if (would !== 'be refused' && validation.problems.length > 0)
    return 'the gateway would send it, and the appliance would refuse it';
  return `it would ${would}`;
}

function presentLines({ operation, body }: NonNullable<Preview['current']>, change: unknown): readonly string[] {
  const source = oneLine(operation, 64);
  const changed = isRecord(change) ? Object.keys(change) : [];
  return [`Now (${source})`, ...presentStateLines(body, changed, source).map((line) => `  ${line}`.trimEnd())];
}

function bodyText(body: unknown): string {
  return typeof body === 'string' ? body : jsonText(body);
}
