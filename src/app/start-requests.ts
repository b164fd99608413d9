import type { AdminMetrics } from '../gateway/admin-metrics.ts';
import { createGateway, type Gateway, type GatewayParts } from '../gateway/gateway.ts';
import type { Principals } from '../gateway/principal.ts';
import type { AuditJournal } from '../audit/journal.ts';
import type { ApprovalSettings } from '../config/admin-settings.ts';
import { sleep } from '../lib/time.ts';
import { createDeliver } from '../recipes/deliver.ts';
import type { Recipe } from '../recipes/recipe.ts';
import { requestableRecipes } from '../recipes/recipes.ts';
import { type ChangeRequests, openChangeRequests } from '../requests/change-requests.ts';
import { createProposals, type Proposals } from '../requests/proposals.ts';
import { createRequestFolder } from '../requests/request-folder.ts';
import type { Logger } from 'pino';

export interface StartRequestsParts extends Omit<GatewayParts, 'approvals' | 'principals' | 'freeze'> {
  readonly freeze: GatewayParts['freeze'];
  readonly principals: Principals;
  readonly journal: AuditJournal;
  readonly metrics: AdminMetrics;
  readonly auditFile: string;
  /** Read at each use: a reload may change them. */
  readonly approvals: () => ApprovalSettings;
  readonly now: () => number;
  readonly log: Logger;
}

/** The gateway with its change requests and the proposals of alerts. */
export interface StartedRequests {
  readonly gateway: Gateway;
  readonly changeRequests: ChangeRequests;
  readonly proposals: Proposals;
  close(): Promise<void>;
}

const sweepEveryMs = 5_000;

/** Opens the change requests beside the audit, and connects them with the gateway. */
export async function startRequests(parts: StartRequestsParts): Promise<StartedRequests> {
  const gateway = createGateway({
    ...parts,
    approvals: {
      get requiredFor() {
        return parts.approvals().requiredFor;
      },
      ask: (waiting) => changeRequests.askInstead(waiting),
    },
  });
  const recipes = (): readonly Recipe[] => {
    const { certificatesFolder } = parts.approvals();
    return certificatesFolder === undefined
      ? requestableRecipes
      : [...requestableRecipes, createDeliver(certificatesFolder)];
  };
  const changeRequests = await openChangeRequests({
    ...parts,
    gateway,
    recipes,
    folder: createRequestFolder(`${parts.auditFile}.requests`),
    settings: parts.approvals,
    sleep,
  });
  const proposals = createProposals({ ...parts, changeRequests, recipes });
  const timer = setInterval(() => void changeRequests.sweep(), sweepEveryMs);
  // Nothing waits for it: a disk may not answer, and the audit may be long.
  void changeRequests.sweep();
  return {
    gateway,
    changeRequests,
    proposals,
    async close() {
      clearInterval(timer);
      await Promise.all([proposals.close(), changeRequests.close()]);
      parts.metrics.noChangeRequests();
    },
  };
}
