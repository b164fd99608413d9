import { type Static, Type } from 'typebox';
import { oneLine } from '../../lib/one-line.ts';
import { renderJson, renderText } from './render.ts';
import { jsonText } from './table.ts';

/** What the gateway answers to a dry run, as far as it is read here. */
export const PreviewReply = Type.Object({
  operation: Type.String(),
  risk: Type.String(),
  would: Type.String(),
  because: Type.Array(Type.String()),
  request: Type.Object({ method: Type.String(), url: Type.String(), body: Type.Optional(Type.Unknown()) }),
  findings: Type.Array(
    Type.Object({ guard: Type.String(), severity: Type.String(), message: Type.String(), remedy: Type.String() }),
  ),
  validation: Type.Object({ problems: Type.Array(Type.String()), note: Type.Optional(Type.String()) }),
  current: Type.Union([Type.Null(), Type.Object({ operation: Type.String(), body: Type.Unknown() })]),
});
export type Preview = Static<typeof PreviewReply>;

/** A dry run for people: what would go out, what stands against it, and how things are now. */
export function previewLines({ operation, risk, request, current, ...verdict }: Preview): readonly string[] {
  return [
    oneLine(`Dry run of ${operation} (${risk}): it would ${verdict.would}.`, 300),
    ...objectionLines(verdict),
    '',
    'Request',
    `  ${oneLine(`${request.method} ${request.url}`, 2_000)}`,
    ...(request.body === undefined || request.body === null ? [] : [`  ${oneLine(bodyText(request.body), 4_000)}`]),
    ...(current ? ['', `Now (${oneLine(current.operation, 64)})`, ...currentLines(current.body)] : []),
  ];
}

/** What the gateway and its guards have to say against a call, without repeating one another. */
export function objectionLines({
  because,
  findings,
  validation,
}: Omit<Preview, 'operation' | 'risk' | 'request' | 'current'>) {
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

function currentLines(body: unknown): readonly string[] {
  const lines = typeof body === 'string' ? renderText(body) : renderJson(body);
  return lines.map((line) => `  ${line}`.trimEnd());
}

function bodyText(body: unknown): string {
  return typeof body === 'string' ? body : jsonText(body);
}
