import { Fill } from '../../shared/fill.tsx';
import { type Amount, formatPrice } from '../../shared/money.ts';
import type { GatewayOption } from '../api.ts';
import { useWords } from './words.ts';

/** The exchange rate of the amount and its sources, or a note that the token is at par. Renders nothing for a price in tokens. */
export function RateNote({ price, option }: { readonly price: Amount; readonly option: GatewayOption }) {
  const words = useWords();
  const { strings, locale } = words;
  const { rate } = option;
  const currency = /^iso4217\/(.+)/.exec(price.unit)?.[1];
  if (currency === undefined) return null;
  if (rate == null) {
    const one = formatPrice('1', currency, words);
    return (
      <p className="small rate" suppressHydrationWarning>
        <Fill text={strings.atPar} token={option.amount.display.assetSymbol} price={one} />
      </p>
    );
  }
  const sources = new Intl.ListFormat(locale, { style: 'short', type: 'unit' }).format(rate.sources);
  return (
    <p className="small rate" suppressHydrationWarning>
      <Fill
        text={strings.rateFrom}
        token={rate.base}
        price={formatPrice(rate.value, rate.quote, words)}
        sources={sources}
      />
    </p>
  );
}
