import { createGateway } from '../gateway/gateway.ts';
import type { ApprovalSettings } from '../config/admin-settings.ts';
import { sleep, steadyNow } from '../lib/time.ts';
import { createDeliver } from '../recipes/deliver.ts';
import type { Recipe } from '../recipes/recipe.ts';
import { requestableRecipes } from '../recipes/recipes.ts';
import { openChangeRequests } from '../approvals/change-requests.ts';
import { createProposals } from '../approvals/proposals.ts';
import { createRequestFolder } from '../approvals/request-folder.ts';
import type { GatewayCore } from './gateway-core.ts';

/** The gateway with its change requests and the proposals of alerts. */
export type StartedRequests = Awaited<ReturnType<typeof startRequests>>;

const sweepEveryMs = 5_000;

/** Opens the change requests beside the audit, and connects them with the gateway. */
export async function startRequests(core: GatewayCore) {
  const { auditFile, timeoutMs } = core.settings.admin;
  // Read at each use: a reload may change them.
  const approvals = (): ApprovalSettings => core.settings.admin.approvals;
  const gateway = createGateway({
    ...core,
    timeoutMs,
    approvals: {
      get requiredFor() {
        return approvals().requiredFor;
      },
      ask: (waiting) => changeRequests.askInstead(waiting),
    },
    onChanged: (appliance, area, farm) => core.fleet.changed(appliance, area, farm),
  });
  const recipes = (): readonly Recipe[] => {
    const { certificatesFolder } = approvals();
    return certificatesFolder === undefined
      ? requestableRecipes
      : [...requestableRecipes, createDeliver(certificatesFolder)];
  };
  const changeRequests = await openChangeRequests({
    ...core,
    gateway,
    recipes,
    folder: createRequestFolder(`${auditFile}.requests`),
    settings: approvals,
    sleep,
    steadyNow,
  });
  const proposals = createProposals({ ...core, changeRequests, recipes });
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
      core.metrics.noChangeRequests();
    },
  };
}
