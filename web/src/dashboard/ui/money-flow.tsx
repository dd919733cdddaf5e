import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactNode } from 'react';
import { type Amount, formatAmount } from '../../shared/money.ts';
import { clamp, shortAccount } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { Payment, SignedReceipt } from '../api-types.ts';
import { moneyPath, type Stop as PathStop } from '../money-path.ts';
import { useMerchantName } from '../queries.ts';
import { usePageState, useWords } from '../words.ts';

export function useReceipt(payment: Payment) {
  return useQuery({
    queryKey: ['payments', 'receipt', payment.id],
    enabled: payment.status === 'succeeded',
    queryFn: ({ signal }) =>
      call<SignedReceipt>('GET', `/v1/payments/${payment.id}/receipt`, { merchantId: payment.merchantId, signal }),
  }).data;
}

/** Shows the path of the money: from the payer through the Collector or a deposit address to the merchant, and the fee. */
export function MoneyFlow({ payment, receipt }: { readonly payment: Payment; readonly receipt: SignedReceipt }) {
  const words = useWords();
  const style = usePageState();
  const merchant = useMerchantName(payment.merchantId);
  const paid = payment.info?.optionAmount;
  if (paid === undefined) return null;
  const inToken = (value: bigint) => formatAmount({ ...paid, value: value.toString() } satisfies Amount, style);
  const names: Readonly<Record<PathStop['who'], ReactNode>> = {
    payer: words.payer,
    collector: words.collector,
    deposit: words.depositAddress,
    held: words.heldFor,
    merchant: <bdi>{clamp(merchant ?? words.merchant, 40)}</bdi>,
    fee: words.fee,
  };
  return (
    <section aria-labelledby="flow" className="card">
      <h2 id="flow">{words.moneyFlow}</h2>
      <ol className="flow">
        {moneyPath(payment, receipt).map(({ who, account, units }) => (
          <Fragment key={who}>
            {units !== undefined && <Step amount={inToken(units)} isSide={who === 'fee'} />}
            <Stop name={names[who]} account={account} isSide={who === 'fee'} />
          </Fragment>
        ))}
      </ol>
    </section>
  );
}

interface StopProps {
  readonly name: ReactNode;
  readonly account: string;
  readonly isSide?: boolean;
}

function Stop({ name, account, isSide = false }: StopProps) {
  return (
    <li className={isSide ? 'flow-stop flow-side' : 'flow-stop'}>
      <span>{name}</span>
      <code dir="ltr" className="soft small" title={account}>
        {shortAccount(account)}
      </code>
    </li>
  );
}

function Step({ amount, isSide = false }: { readonly amount: string; readonly isSide?: boolean }) {
  return (
    <li className={isSide ? 'flow-step flow-side' : 'flow-step'}>
      <span>{amount}</span>
    </li>
  );
}
