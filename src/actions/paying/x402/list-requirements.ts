import { familyOf } from '../../../chains/families.ts';
import type { Registry } from '../../../chains/registry.ts';
import { type Requirement, timeoutS } from '../../../domain/x402.ts';
import { ApiError } from '../../../errors.ts';
import type { Log } from '../../../runtime/world.ts';
import type { Payment } from '../../../store/payments/payments.ts';
import { depositAssets } from '../deposit-assets.ts';
import { type OpenDepositDeps, type OpenedDeposit, openDeposit } from '../open-deposit.ts';
import { merchantStopped, noExecutor } from '../option-refusals.ts';
import { readTerms } from '../terms-in-force.ts';

/** The name of a payer that pays by x402. */
export const AGENT = { name: 'x402', icon: null } as const;

/**
 * The ways to pay a payment by x402: tokens at par with its price that accept authorizations (EIP-3009), each with the deposit address as
 * payee. The first request creates the addresses. A token whose address is refused or fails is left out, and does not affect the other
 * tokens. Throws if no token is left.
 */
export async function listRequirements(
  deps: OpenDepositDeps & { readonly log: Log },
  payment: Payment,
): Promise<readonly Requirement[]> {
  if ((await readTerms(deps, payment)).isStopped) throw merchantStopped();
  const requirements: Requirement[] = [];
  const refusals: ApiError[] = [];
  const faults: unknown[] = [];
  for (const { asset } of await depositAssets(deps, payment)) {
    if (domainOf(deps.registry, asset) === undefined) continue;
    const opened = await openDeposit(deps, { payment, asset, buyer: AGENT }).catch((error: unknown) => {
      if (error instanceof ApiError) {
        refusals.push(error);
        return;
      }
      faults.push(error);
      deps.log.error({ err: error, paymentId: payment.id, asset }, 'a token is left out, because it has no address');
    });
    const requirement = opened && requirementOf(deps.registry, opened, payment, deps.world.clock.nowMs());
    if (requirement !== undefined) requirements.push(requirement);
  }
  // A fault of ours may be temporary, so it is thrown in preference to a refusal.
  if (requirements.length === 0) throw faults[0] ?? refusals[0] ?? noExecutor();
  return requirements;
}

/** The requirement for a deposit address. Undefined for an address of an older contract, which accepts no authorizations. */
function requirementOf(
  registry: Registry,
  { asset, network, address, item }: OpenedDeposit,
  { id, expiresAt }: Payment,
  nowMs: number,
): Requirement | undefined {
  const domain = domainOf(registry, asset);
  if (domain === undefined || !familyOf(network).takesAuthorizations(item.collector)) return undefined;
  return {
    scheme: 'exact',
    network,
    amount: item.amount,
    asset: asset.slice(asset.lastIndexOf(':') + 1),
    payTo: address,
    maxTimeoutSeconds: timeoutS(expiresAt.getTime(), nowMs),
    extra: { ...domain, paymentId: id },
  };
}

/** The EIP-712 domain of a token with EIP-3009. */
function domainOf(registry: Registry, asset: string): { readonly name: string; readonly version: string } | undefined {
  const pay = registry.asset(asset)?.pay;
  return pay !== undefined && 'domain' in pay ? pay.domain : undefined;
}
