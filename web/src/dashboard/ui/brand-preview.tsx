import type { CSSProperties } from 'react';
import { accentColours } from '../../../../src/domain/accent.ts';
import { type Amount, formatAmount } from '../../shared/money.ts';
import { clamp, fill, initialsOf } from '../../shared/text.ts';
import { usePageState, useWords } from '../words.ts';

interface PreviewProps {
  readonly name: string;
  readonly logoUrl: string | null;
  /** `#rrggbb`, or null for the gateway's colour. */
  readonly accent: string | null;
  readonly poweredBy: boolean;
}

const PRICE: Amount = {
  unit: 'iso4217/EUR',
  value: '2450',
  display: { assetSymbol: 'EUR', assetName: 'Euro', decimals: 2 },
};

export function BrandPreviews(props: PreviewProps) {
  const words = useWords();
  return (
    <div className="brand-previews">
      <Preview {...props} theme="light" caption={words.themeLight} />
      <Preview {...props} theme="dark" caption={words.themeDark} />
    </div>
  );
}

type OneProps = PreviewProps & { readonly theme: 'light' | 'dark'; readonly caption: string };

function Preview({ name, logoUrl, accent, poweredBy, theme, caption }: OneProps) {
  const { strings: words, ...style } = usePageState();
  const amount = formatAmount(PRICE, style);
  const colours = accent === null ? undefined : accentColours(accent);
  // React sets the style by script, which the content security policy allows.
  const variables = colours && ({ '--main': colours.main, '--on-main': colours.text } as CSSProperties);
  return (
    <figure>
      <figcaption className="soft small">{caption}</figcaption>
      <div className={`brand-page brand-${theme}`} style={variables} aria-hidden="true">
        <span className="brand-merchant">
          {logoUrl === null ? (
            <span className="brand-logo">{initialsOf(name) || '·'}</span>
          ) : (
            <img className="brand-logo" src={logoUrl} alt="" />
          )}
          <bdi>{clamp(name, 30)}</bdi>
        </span>
        <span className="brand-amount">{amount}</span>
        <span className="brand-card">
          <span className="brand-option">EURC</span>
          <span className="brand-button">{fill(words.payAmount, { amount })}</span>
        </span>
        <span className="brand-foot">{poweredBy && fill(words.poweredBy, { name: 'Till' })}</span>
      </div>
    </figure>
  );
}
