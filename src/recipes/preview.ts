import { type Static, Type } from 'typebox';
import type { Decode } from '../appliance/decode.ts';
import { parseJson } from '../lib/check.ts';
import { AdminError } from './admin-error.ts';

/** The members of the gateway's answer to a dry run that this command reads. */
export const PreviewReply = Type.Object({
  operation: Type.String(),
  risk: Type.String(),
  would: Type.String(),
  because: Type.Immutable(Type.Array(Type.String())),
  request: Type.Object({ method: Type.String(), url: Type.String(), body: Type.Optional(Type.Unknown()) }),
  findings: Type.Immutable(
    Type.Array(
      Type.Object({ guard: Type.String(), severity: Type.String(), message: Type.String(), remedy: Type.String() }),
    ),
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
