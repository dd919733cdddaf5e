import { Fill } from '../../shared/fill.tsx';
import type { Amount } from '../../shared/money.ts';
import { clamp } from '../../shared/text.ts';
import { Money } from './money-text.tsx';
import { MerchantLogo } from './pictures.tsx';

interface SummaryHeadProps {
  readonly merchant: { readonly name: string; readonly iconUrl: string | null };
  readonly amount: Amount;
  /** The beginning of the heading for screen readers, with `{merchant}` in it. */
  readonly title: string;
}

export function SummaryHead({ merchant, amount, title }: SummaryHeadProps) {
  const name = clamp(merchant.name, 64);
  return (
    <>
      <div className="merchant">
        <MerchantLogo name={name} iconUrl={merchant.iconUrl} />
        <bdi className="merchant-name">{name}</bdi>
      </div>
      <h1 className="amount" id="amount">
        <span className="unseen">
          <Fill text={title} merchant={name} />{' '}
        </span>
        <Money amount={amount} />
      </h1>
    </>
  );
}
