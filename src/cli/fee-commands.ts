import { merchantNotFound } from '../actions/parties/change-merchant.ts';
import { partnerNotFound } from '../actions/parties/change-partner.ts';
import { setFees } from '../actions/parties/set-fees.ts';
import type { Registry } from '../chains/registry.ts';
import { storedUnit } from '../chains/units.ts';
import { isPercentage } from '../domain/fees.ts';
import { symbolText } from '../domain/money.ts';
import { listFees, type StoredFees } from '../store/parties/fees.ts';
import { findMerchantOfAnyPartner } from '../store/parties/merchants.ts';
import { findPartner } from '../store/parties/partners.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { future, id, type Kind, Problem } from './kinds.ts';
import { listing } from './listing.ts';
import { amountIn } from './money-kinds.ts';
import { optional, repeated, required } from './options.ts';
import { layoutFields } from './table.ts';

const MAX_FIXED = 50;

const percentage: Kind<string> = {
  placeholder: 'percent',
  parse: (raw) =>
    isPercentage(raw)
      ? raw
      : new Problem(
          'must be a percentage from 0 to 100 such as 0.4, with at most 18 decimals, without sign or exponent',
        ),
};

const set = databaseCommand({
  name: 'fees set',
  summary: 'Set the fees on payments, from now or from a later time on.',
  options: {
    partner: optional(id, 'The partner; applies to its merchants without fees of their own.'),
    merchant: optional(id, 'The merchant; takes precedence over the fees of its partner.'),
    percentage: required(percentage, 'Of the price: 0.4 is 0.4 %.'),
    fixed: repeated(amountIn, MAX_FIXED, 'Added to payments priced in this unit, in minor units.'),
    from: optional(future, 'When it begins. Default: now.'),
  },
  examples: [
    'fees set --partner prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --percentage 0.4 --fixed iso4217/USD=14 --fixed iso4217/EUR=12',
    'fees set --merchant mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --percentage 0 --from 2030-01-01T00:00:00Z',
  ],
  check: ({ partner, merchant, percentage: percent, fixed }) => {
    const units = fixed.map(({ unit }) => unit);
    const twice = units.filter((unit, index) => units.indexOf(unit) !== index);
    const takesAll = /^100(\.0+)?$/.test(percent) && fixed.some(({ value }) => value !== '0');
    return [
      ...((partner === undefined) === (merchant === undefined) ? ['Give either --partner or --merchant.'] : []),
      ...twice.map((unit) => `--fixed names ${unit} more than once`),
      ...(takesAll ? ['--fixed on top of 100 % is more than any payment has'] : []),
    ];
  },
  run: async (deps, { partner, merchant, percentage: percent, fixed, from }) => {
    const payee = merchant === undefined ? { partnerId: partner ?? '' } : { merchantId: merchant };
    const terms = { percentage: percent, fixed };
    const fees = await setFees(deps, { actor: operatorOf(deps.config), payee, terms, startsAt: from });
    const fields = {
      ...(fees.merchantId === null ? { partner: fees.partnerId } : { merchant: fees.merchantId }),
      percentage: `${fees.percentage} %`,
      fixed: fixedText(deps.registry, fees),
      from: fees.startsAt,
    };
    const note = 'Every node applies it within 5 s. Payments that are signed already keep their fees.';
    return { json: fees, text: `Fees set.\n\n${layoutFields(fields)}`, note };
  },
});

const list = databaseCommand({
  name: 'fees list',
  summary: 'Show the fees that were set, with the time each began or begins.',
  options: {
    partner: optional(id, 'Only of this partner and its merchants.'),
    merchant: optional(id, 'Only of this merchant.'),
  },
  examples: ['fees list', 'fees list --merchant mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async ({ db, registry, world }, { partner, merchant }) => {
    if (partner !== undefined && (await findPartner(db.sql, partner)) === undefined) throw partnerNotFound(partner);
    if (merchant !== undefined && (await findMerchantOfAnyPartner(db.sql, merchant)) === undefined) {
      throw merchantNotFound(merchant);
    }
    const rows = await listFees(db.sql, { partnerId: partner, merchantId: merchant });
    const all = rows.map((fees, index) => ({ ...fees, state: stateOf(fees, rows[index + 1], world.clock.nowMs()) }));
    return listing(all, {
      columns: [
        { title: 'partner', cell: (fees) => fees.partnerId },
        { title: 'merchant', cell: (fees) => fees.merchantId ?? 'all' },
        { title: 'percentage', cell: (fees) => `${fees.percentage} %` },
        { title: 'fixed', cell: (fees) => fixedText(registry, fees) },
        { title: 'from', cell: (fees) => fees.startsAt },
        { title: 'state', cell: (fees) => fees.state },
      ],
      empty: 'No fees are set.',
    });
  },
});

/** The state of a version of fees. A version is over as soon as the next version for the same partner and merchant has begun. */
function stateOf(fees: StoredFees, next: StoredFees | undefined, nowMs: number): 'scheduled' | 'over' | 'in force' {
  if (fees.startsAt.getTime() > nowMs) return 'scheduled';
  const isSamePayee = next?.partnerId === fees.partnerId && next.merchantId === fees.merchantId;
  return isSamePayee && next.startsAt.getTime() <= nowMs ? 'over' : 'in force';
}

/** The fixed fees as text for people, such as `0.14 USD`. */
function fixedText(registry: Registry, { fixed }: StoredFees): string {
  const parts = fixed.map(({ unit, value }) => {
    const { symbol, decimals, token } = storedUnit(registry, unit, 0);
    const where = token === undefined ? '' : ` on ${token.networkName ?? token.chainId}`;
    return `${symbolText({ units: BigInt(value), decimals }, symbol)}${where}`;
  });
  return parts.length === 0 ? 'none' : parts.join(', ');
}

export const feeCommands: readonly Command[] = [set, list];
