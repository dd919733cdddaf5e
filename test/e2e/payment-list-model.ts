import type { PaymentStatus } from '../../src/domain/payment.ts';

/** The creation time of the first random payment. */
export const T0_MS = Date.parse('2026-03-01T12:00:00Z');
/** The time of the queries. */
export const NOW_MS = T0_MS + 60_000;

export interface ModelUnit {
  readonly id: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly asset: string | undefined;
}

/** A payment in the naive model. */
export interface ModelPayment {
  readonly id: string;
  readonly merchantId: string;
  readonly createdMs: number;
  readonly expiresMs: number;
  readonly referenceId: string;
  readonly unit: ModelUnit;
  readonly value: bigint;
  readonly nativeDeadline: boolean;
  status: PaymentStatus;
  updatedMs: number;
  buyer: string | undefined;
  token: { readonly asset: string; readonly value: bigint } | undefined;
  hash: string | undefined;
}

/** A query for the naive model. */
export interface ModelQuery {
  readonly scope: 'merchant' | 'partner' | 'restricted';
  /** The queried merchants, by number; undefined for all. */
  readonly wanted: readonly number[] | undefined;
  /** The resulting merchants. */
  readonly merchantIds?: readonly string[];
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  readonly symbols: readonly string[];
  readonly networks: readonly string[];
  readonly statuses: readonly PaymentStatus[];
  readonly referenceId: string | undefined;
  readonly sortBy: 'date' | 'amount' | undefined;
  readonly sortDir: 'asc' | 'desc' | undefined;
  readonly limit: number;
}

export function matches(payment: ModelPayment, query: ModelQuery): boolean {
  const { startMs, endMs, symbols, networks, statuses, referenceId } = query;
  const symbol = payment.token && SYMBOLS[payment.token.asset];
  return (
    query.merchantIds?.includes(payment.merchantId) === true &&
    (startMs === undefined || payment.createdMs >= startMs) &&
    (endMs === undefined || payment.createdMs < endMs) &&
    (symbols.length === 0 || (symbol !== undefined && symbols.includes(symbol))) &&
    (networks.length === 0 || networks.some((network) => payment.token?.asset.startsWith(`${network}/`))) &&
    (statuses.length === 0 || statuses.includes(seen(payment))) &&
    (referenceId === undefined || payment.referenceId.toLowerCase().includes(referenceId.toLowerCase()))
  );
}

export function ordered(payments: readonly ModelPayment[], { sortBy = 'date', sortDir = 'desc' }: ModelQuery) {
  const compare = (a: ModelPayment, b: ModelPayment) => {
    const [one, two] = [scaled(a), scaled(b)];
    if (sortBy === 'amount' && one !== two) return one < two ? -1 : 1;
    if (a.createdMs !== b.createdMs) return a.createdMs - b.createdMs;
    return a.id < b.id ? -1 : 1;
  };
  const up = payments.toSorted(compare);
  return sortDir === 'asc' ? up : up.reverse();
}

/** Numbers are kept as their exact text. */
export function expectedStats(payments: readonly ModelPayment[]) {
  const sums = new Map<string, bigint>();
  for (const payment of payments) {
    if (payment.status !== 'succeeded') continue;
    sums.set(payment.unit.symbol, (sums.get(payment.unit.symbol) ?? 0n) + scaled(payment));
  }
  const buyers = new Set(payments.flatMap(({ buyer }) => (buyer === undefined ? [] : [buyer])));
  return {
    totalRevenue: [...sums.keys()].sort().map((currency) => ({ amount: written(sums.get(currency) ?? 0n), currency })),
    totalTransactions: String(payments.length),
    totalCustomers: String(buyers.size),
  };
}

export function expectedItem(payment: ModelPayment) {
  const { unit, value, token, buyer, hash } = payment;
  const status = seen(payment);
  const amount = (id: string, units: bigint) => ({ unit: id, value: String(units), display: DISPLAYS[id] });
  const updatedMs = status === payment.status ? payment.updatedMs : Math.max(payment.updatedMs, payment.expiresMs);
  return {
    paymentId: payment.id,
    merchant: { id: payment.merchantId, name: 'Test shop', iconUrl: null },
    referenceId: payment.referenceId,
    status,
    isTerminal: status !== 'requires_action' && status !== 'processing',
    ...(unit.asset === undefined && { fiatAmount: amount(unit.id, value) }),
    ...(token && { tokenAmount: amount(`caip19/${token.asset}`, token.value) }),
    ...(buyer !== undefined && { buyer: { accountCaip10: buyer, accountProviderName: 'Wallet' } }),
    ...(hash !== undefined && { transaction: { networkId: token?.asset.split(/[:/]/)[1], hash, nonce: '7' } }),
    // No payment of the model is settled.
    ...(hash !== undefined && { settlement: { settled: false } }),
    createdAt: new Date(payment.createdMs).toISOString(),
    lastUpdatedAt: new Date(updatedMs).toISOString(),
  };
}

function seen({ status, expiresMs, nativeDeadline }: ModelPayment): PaymentStatus {
  if (status !== 'requires_action' || expiresMs > NOW_MS) return status;
  return nativeDeadline ? 'processing' : 'expired';
}

const MOST_DECIMALS = 20;

function scaled({ value, unit }: ModelPayment): bigint {
  return value * 10n ** BigInt(MOST_DECIMALS - unit.decimals);
}

function written(units: bigint): string {
  const digits = String(units).padStart(MOST_DECIMALS + 1, '0');
  return `${digits.slice(0, -MOST_DECIMALS)}.${digits.slice(-MOST_DECIMALS)}`.replace(/\.?0+$/, '');
}

const USDC = { symbol: 'USDC', name: 'USD Coin', decimals: 6 };

/** All units that random payments are priced in and paid with. */
export const FIATS: readonly ModelUnit[] = [
  { id: 'iso4217/USD', symbol: 'USD', decimals: 2, asset: undefined },
  { id: 'iso4217/JPY', symbol: 'JPY', decimals: 0, asset: undefined },
  { id: 'iso4217/KWD', symbol: 'KWD', decimals: 3, asset: undefined },
];
const TOKENS = [
  { asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', ...USDC, network: 'Base' },
  {
    asset: 'eip155:56/erc20:0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
    ...{ symbol: 'USDC', name: 'Binance-Peg USD Coin', decimals: 18 },
    network: 'BNB Smart Chain',
  },
  {
    asset: 'eip155:8453/erc20:0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42',
    ...{ symbol: 'EURC', name: 'EURC', decimals: 6 },
    network: 'Base',
  },
  { asset: 'eip155:1/slip44:60', symbol: 'ETH', name: 'Ether', decimals: 18, network: 'Ethereum' },
];
export const TOKEN_UNITS = TOKENS.map(({ asset, symbol, decimals }) => ({
  id: `caip19/${asset}`,
  symbol,
  decimals,
  asset,
}));
const SYMBOLS: Readonly<Record<string, string>> = Object.fromEntries(
  TOKENS.map(({ asset, symbol }) => [asset, symbol]),
);

const DISPLAYS: Readonly<Record<string, object>> = Object.fromEntries([
  ['iso4217/USD', { assetSymbol: 'USD', assetName: 'US Dollar', decimals: '2' }],
  ['iso4217/JPY', { assetSymbol: 'JPY', assetName: 'Yen', decimals: '0' }],
  ['iso4217/KWD', { assetSymbol: 'KWD', assetName: 'Kuwaiti Dinar', decimals: '3' }],
  ...TOKENS.map(({ asset, symbol, name, decimals, network }) => [
    `caip19/${asset}`,
    {
      assetSymbol: symbol,
      assetName: name,
      decimals: String(decimals),
      networkName: network,
      iconUrl: `http://localhost:8080/icons/token/${symbol}.svg`,
      networkIconUrl: `http://localhost:8080/icons/network/${asset.split('/', 1)[0]?.replace(':', '-')}.svg`,
    },
  ]),
]);
