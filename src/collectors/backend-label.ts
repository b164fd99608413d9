interface Addressed {
  readonly service: string;
  readonly id?: string | null;
  readonly ip?: string | null;
  readonly port?: string | null;
}

/** The `backend` label: `ip:port`, or `ip:port#id` where a service has the address twice. */
export function backendLabel(backend: Addressed, clashes: ReadonlySet<string>): string {
  const text = address(backend);
  return clashes.has(`${backend.service}\n${text}`) ? `${text}#${backend.id ?? ''}` : text;
}

/** The addresses that stand more than once in one service. */
export function clashingAddresses(backends: readonly Addressed[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const clashes = new Set<string>();
  for (const backend of backends) {
    const key = `${backend.service}\n${address(backend)}`;
    if (seen.has(key)) clashes.add(key);
    seen.add(key);
  }
  return clashes;
}

/** An L4 farm on all ports has backends without one. */
function address({ ip, port }: Addressed): string {
  const host = ip?.includes(':') ? `[${ip}]` : (ip ?? '');
  return port ? `${host}:${port}` : host;
}
