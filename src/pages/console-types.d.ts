// The responses of the gateway as the console reads them, and its session.

import type { gatewayFor } from './console/gateway.js';

/** The content of an element; empty ones are left out. */
export type Child = Node | string | number | boolean | null | undefined | readonly Child[];
export type Attributes = Readonly<Record<string, string | boolean | null | undefined>>;
export type Problem = Readonly<Record<'title' | 'message' | 'remedy', string>> & { readonly code?: string };

interface Call {
  readonly method: string;
  readonly url: string;
  readonly risk: string;
  readonly body?: unknown;
}

export interface Step {
  readonly title: string;
  readonly call: Call | null;
  readonly findings: readonly Readonly<Record<'guard' | 'severity' | 'message' | 'remedy', string>>[];
  readonly because: readonly string[];
  readonly current: { readonly operation: string; readonly body: unknown } | null;
  /** The calls of a rollback. */
  readonly way_back?: readonly Call[];
}

interface Alert {
  readonly name: string;
  readonly since: string;
  readonly summary: string | null;
}

export interface ChangeOnPage {
  readonly id: string;
  readonly state: string;
  readonly appliance: string;
  readonly title: string;
  readonly force: boolean;
  readonly requested_by: string;
  readonly reason: string | null;
  readonly alerts: readonly Alert[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly created: string;
  readonly expires: string;
  readonly digest: string;
  readonly plan: { readonly facts: readonly string[]; readonly steps: readonly Step[] };
  readonly decision: (Readonly<Record<'by' | 'what' | 'at', string>> & { readonly reason: string | null }) | null;
  readonly may: readonly string[];
  readonly cannot_approve: string | null;
  readonly outcome: { readonly at: string; readonly lines: readonly string[]; readonly code?: string | null } | null;
}

/** A repair for an alert that cannot be proposed. */
export interface NotProposed {
  readonly alerts: readonly Alert[];
  readonly appliance: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly because: string;
}

export interface Me {
  readonly principal: string;
  readonly person?: string;
  readonly role: string;
  readonly appliances: readonly string[];
  readonly expires: string | null;
  readonly approver: boolean;
  readonly self_approval: boolean;
  readonly break_glass: boolean;
}

export type Freeze = Readonly<Record<'by' | 'since' | 'reason', string>> & { readonly frozen: boolean };

/** The alert in the link of a notification. */
export type Awaited = Readonly<Record<'alert' | 'appliance' | 'object' | 'name', string>>;

/** What the gateway returned for a token. */
export interface Session {
  readonly gateway: ReturnType<typeof gatewayFor>;
  changes: readonly ChangeOnPage[];
  notProposed: readonly NotProposed[];
  me: Me;
  freeze: Freeze;
  selected: string | undefined;
  opened: ChangeOnPage | undefined;
  openRefusal: Problem | undefined;
  /** The digest of the plan that was shown. */
  looked: string | undefined;
  renewed: boolean;
  awaited: Awaited | undefined;
  ofAwaited: readonly ChangeOnPage[];
  cannotPropose: NotProposed | undefined;
  refusal: Problem | undefined;
  missing: boolean;
  busy: string | undefined;
  isStale: boolean;
  nowMs: number;
  answeredAtMs: number;
  offsetMs: number;
  reading: Promise<void> | undefined;
}
