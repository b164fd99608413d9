import { type Static, Type } from 'typebox';
import type { Decode } from '../../appliance/decode.ts';
import { isRecord } from '../../lib/check.ts';
import { oneLine } from '../../lib/one-line.ts';
import { AdminError, parseJson } from './admin-error.ts';
import { presentStateLines } from './present-state.ts';
import { jsonText } from './table.ts';

/** What the gateway answers to a dry run, as far as it is read here. */
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

/** The gateway's answer to a dry run; throws an {@link AdminError} when it is something else. */
export function readPreview(body: Buffer, decode: Decode): Preview {
  const preview = parseJson(body);
  const checked = decode(PreviewReply, preview);
  if (checked.ok) return preview as Preview;
  throw new AdminError('The gateway answered a dry run with something else', {
    detail: checked.because,
    remedy: 'Use the same version of zlb-exporter on both sides.',
  });
}

/** Whether the gateway would refuse it, or the appliance by its own description of what it takes. */
export function isHopeless({ would, validation }: Pick<Preview, 'would' | 'validation'>): boolean {
  return would === 'be refused' || validation.problems.length > 0;
}

/** A dry run for people: what would go out, what stands against it, and how things are now. */
export function previewLines({ operation, risk, request, current, ...verdict }: Preview): readonly string[] {
  return [
    oneLine(`Dry run of ${operation} (${risk}): ${verdictText(verdict)}.`, 300),
    ...objectionLines(verdict),
    '',
    'Request',
    `  ${oneLine(`${request.method} ${request.url}`, 2_000)}`,
    ...(request.body === undefined || request.body === null ? [] : [`  ${oneLine(bodyText(request.body), 4_000)}`]),
    ...(current ? ['', ...presentLines(current, request.body)] : []),
  ];
}

/** What the gateway and its guards have to say against a call, without repeating one another. */
export function objectionLines({
  because,
  findings,
  validation,
}: Pick<Preview, 'because' | 'findings' | 'validation'>): readonly string[] {
  const found = findings.map(
    ({ guard, severity, message, remedy }) => `${severity === 'blocking' ? '✗' : '!'} ${guard}: ${message} ${remedy}`,
  );
  const told = new Set(findings.map(({ message }) => message));
  const others = [...because, ...validation.problems]
    .filter((sentence) => !told.has(sentence))
    .map((sentence) => `✗ ${sentence}`);
  const note = validation.note === undefined ? [] : [validation.note];
  return [...found, ...others, ...note].map((text) => `  ${oneLine(text, 2_000)}`);
}

/** Renders what guards warn of without standing in the way; also what blocks others and not this token. */
export function warningLines({ findings, warned = [] }: Pick<Preview, 'findings' | 'warned'>): readonly string[] {
  return objectionLines({
    because: [],
    findings: findings.filter(({ severity, guard }) => severity !== 'blocking' || warned.includes(guard)),
    validation: { problems: [] },
  });
}

function verdictText({ would, validation }: Pick<Preview, 'would' | 'validation'>): string {
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
