import type { ReactNode } from 'react';
import { type Amount, formatAmount, type NumberStyle } from '../shared/money.ts';
import { clamp, shortAccount } from '../shared/text.ts';
import { readStored, store } from './api.ts';
import type { ListedPayment } from './api-types.ts';
import type { Strings } from './strings/en.ts';
import { Time } from './ui/parts.tsx';

/** An optional column of the payments' table. The columns amount and status are always shown. */
interface Column {
  readonly word: keyof Strings;
  readonly show: (row: ListedPayment, style: NumberStyle) => ReactNode;
}

const amountText = (amount: Amount | undefined, style: NumberStyle) =>
  amount === undefined ? null : formatAmount(amount, style);

const shortHash = (hash: string | undefined) =>
  hash === undefined ? null : (
    <code dir="ltr" title={hash}>
      {shortAccount(hash)}
    </code>
  );

export const COLUMNS = {
  reference: { word: 'reference', show: (row) => <bdi>{clamp(row.referenceId, 60)}</bdi> },
  merchant: { word: 'merchant', show: (row) => <bdi>{clamp(row.merchant.name, 60)}</bdi> },
  payer: { word: 'payer', show: (row) => shortHash(row.buyer?.accountCaip10) },
  paidWith: { word: 'paidWith', show: (row, style) => amountText(row.tokenAmount, style) },
  network: { word: 'network', show: (row) => row.tokenAmount?.display.networkName ?? null },
  fee: { word: 'fee', show: (row, style) => amountText(row.fees?.total, style) },
  net: { word: 'net', show: (row, style) => amountText(row.settlement?.amount, style) },
  transaction: { word: 'transaction', show: (row) => shortHash(row.transaction?.hash) },
  updated: { word: 'updated', show: (row) => <Time at={row.lastUpdatedAt} /> },
  created: { word: 'created', show: (row) => <Time at={row.createdAt} /> },
} as const satisfies Record<string, Column>;

export type ColumnName = keyof typeof COLUMNS;
export const COLUMN_NAMES = Object.keys(COLUMNS) as readonly ColumnName[];

const USUAL: readonly ColumnName[] = ['reference', 'merchant', 'payer', 'created'];
const KEY = 'till.columns';

/** The columns chosen in this browser. Without storage, the default ones. */
export function readColumns(): readonly ColumnName[] {
  const names = (readStored(KEY) ?? '').split(',');
  const known = COLUMN_NAMES.filter((name) => names.includes(name));
  return known.length === 0 ? USUAL : known;
}

export function keepColumns(names: readonly ColumnName[]): void {
  store(KEY, names.join(','));
}
