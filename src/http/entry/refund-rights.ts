import type { FastifyRequest } from 'fastify';
import type { RequestRefundInput } from '../../actions/outgoing/refund/request-refund.ts';
import type { Registry } from '../../chains/registry.ts';
import { parseUnit } from '../../chains/units.ts';
import { symbolText } from '../../domain/money.ts';
import { isWithinLimits, type RefundLimit, refundLimitOf } from '../../domain/role.ts';
import { ApiError } from '../../errors.ts';
import type { HttpDeps } from '../deps.ts';
import { checkPasskey } from './caller.ts';

/** The message of a refusal: the person's limit in the unit of the payment, and how to raise it. */
function limitText(registry: Registry, limit: bigint, total: RefundLimit): string {
  const { unit } = total;
  const may =
    limit === 0n
      ? `none in ${unitText(registry, unit)}`
      : `at most ${moneyText(registry, { unit, value: limit.toString() })} of one payment`;
  return `You may refund ${may}, and this would make ${moneyText(registry, total)}. An owner can raise your limit in the dashboard, on the page Team.`;
}

function moneyText(registry: Registry, { unit, value }: RefundLimit): string {
  const parsed = parseUnit(registry, unit);
  if (!parsed.ok) return `${value} minor units`;
  return symbolText({ units: BigInt(value), decimals: parsed.value.decimals }, parsed.value.symbol);
}

function unitText(registry: Registry, unit: string): string {
  const parsed = parseUnit(registry, unit);
  return parsed.ok ? parsed.value.symbol : unit;
}

/**
 * The check of a person's refund limits. A person of support refunds payments only within personal limits. Refunds of a payment
 * above the limit of the gateway need a fresh passkey from every person. All refunds of the payment count together, so that partial
 * refunds cannot avoid a limit. Keys have neither limit.
 */
export function refundApproval(request: FastifyRequest, deps: HttpDeps): RequestRefundInput['approve'] {
  const { caller } = request;
  if (caller?.via !== 'session') return undefined;
  const { person } = caller.session;
  return ({ unit, value }) => {
    const total = { unit, value: value.toString() };
    const limit = refundLimitOf(person, unit);
    if (limit !== undefined && value > limit) {
      throw new ApiError('forbidden', limitText(deps.registry, limit, total));
    }
    if (!isWithinLimits(deps.config.refundWithoutPasskey, total)) checkPasskey(request, deps);
  };
}
