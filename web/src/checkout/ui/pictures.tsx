import { useState } from 'react';
import { FlaskGlyph, PhoneGlyph, WalletGlyph } from '../../shared/glyphs.tsx';
import type { Amount } from '../../shared/money.ts';
import { chainOf } from '../../shared/networks.ts';
import { initialsOf } from '../../shared/text.ts';
import type { WalletCard } from '../wallets.ts';

/**
 * The pictures of merchants, tokens, networks and wallets. An image that cannot be loaded has a fallback, and the page can be
 * understood without images.
 */

export function MerchantLogo({ name, iconUrl }: { readonly name: string; readonly iconUrl: string | null }) {
  return (
    <span className="logo" aria-hidden="true">
      <Picture src={iconUrl} fallback={<span className="initials">{initialsOf(name) || '·'}</span>} />
    </span>
  );
}

/** The token with its network in the corner, because the same token on two networks is two different choices. */
export function TokenPicture({ amount }: { readonly amount: Amount }) {
  const chainId = chainOf(amount.unit);
  return (
    <span className="token" aria-hidden="true">
      <TokenIcon symbol={amount.display.assetSymbol} iconUrl={amount.display.iconUrl} />
      {chainId !== undefined && (
        <span className="token-network">
          <Picture src={`/icons/network/${chainId.replace(':', '-')}.svg`} fallback={null} />
        </span>
      )}
    </span>
  );
}

export function TokenMark({ symbol }: { readonly symbol: string }) {
  return (
    <span className="token" aria-hidden="true">
      <TokenIcon symbol={symbol} />
    </span>
  );
}

/** The icon of a token. Only the path of its URL is used, because the page may be open at another address of the gateway. */
function TokenIcon({ symbol, iconUrl }: { readonly symbol: string; readonly iconUrl?: string | null | undefined }) {
  const named = iconUrl?.replace(/^https?:\/\/[^/]+/, '');
  return (
    <Picture
      src={named ?? `/icons/token/${encodeURIComponent(symbol)}.svg`}
      fallback={<span className="initials">{symbol.slice(0, 2)}</span>}
    />
  );
}

export function WalletPicture({ wallet }: { readonly wallet: Pick<WalletCard, 'icon' | 'kind'> }) {
  return (
    <span className={`wallet-picture wallet-${wallet.kind}`} aria-hidden="true">
      <Picture src={wallet.icon} fallback={<WalletMark kind={wallet.kind} />} />
    </span>
  );
}

function WalletMark({ kind }: Pick<WalletCard, 'kind'>) {
  if (kind === 'paired') return <PhoneGlyph />;
  return kind === 'sandbox' ? <FlaskGlyph /> : <WalletGlyph />;
}

function Picture({ src, fallback }: { readonly src: string | null; readonly fallback: React.ReactNode }) {
  const [broken, setBroken] = useState<string | null>(null);
  if (src === null || src === '' || broken === src) return fallback;
  // The image may have failed to load before the script attached its listener.
  const checkLoaded = (image: HTMLImageElement | null) => {
    if (image?.complete && image.naturalWidth === 0 && !src.startsWith('data:')) setBroken(src);
  };
  return <img ref={checkLoaded} src={src} alt="" decoding="async" onError={() => setBroken(src)} />;
}
