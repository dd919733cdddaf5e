import { ChevronGlyph } from '../../shared/glyphs.tsx';
import type { WalletCard } from '../wallets.ts';
import { WalletPicture } from './pictures.tsx';
import { useWords } from './words.ts';

interface WalletListProps {
  /** The wallets that were found. Null until the search for wallets has ended. */
  readonly wallets: readonly WalletCard[] | null;
  readonly lastWallet: string | null;
  readonly isDisabled: boolean;
  readonly onConnect: (walletId: string) => void;
}

export function WalletList({ wallets, lastWallet, isDisabled, onConnect }: WalletListProps) {
  if (wallets === null) return <LookingForWallets />;
  if (wallets.length === 0) return null;
  return (
    <ul className="list">
      {wallets.map((wallet) => (
        <li key={wallet.id}>
          <WalletRow
            wallet={wallet}
            isLast={wallet.key === lastWallet}
            isDisabled={isDisabled}
            onConnect={() => onConnect(wallet.id)}
          />
        </li>
      ))}
    </ul>
  );
}

interface WalletRowProps {
  readonly wallet: WalletCard;
  readonly isLast: boolean;
  readonly isDisabled: boolean;
  readonly onConnect: () => void;
}

function WalletRow({ wallet, isLast, isDisabled, onConnect }: WalletRowProps) {
  const { strings } = useWords();
  return (
    <button type="button" className="row" onClick={onConnect} disabled={isDisabled}>
      <WalletPicture wallet={wallet} />
      <span className="row-main">
        <bdi className="row-title">{wallet.name}</bdi>
        {wallet.kind === 'paired' && <span className="row-text">{strings.pairedWalletText}</span>}
        {wallet.kind === 'sandbox' && <span className="row-text">{strings.sandboxWalletText}</span>}
      </span>
      {isLast && <span className="tag">{strings.lastUsed}</span>}
      <ChevronGlyph />
    </button>
  );
}

function LookingForWallets() {
  const { strings } = useWords();
  return (
    <div className="list" aria-busy="true">
      <p className="unseen">{strings.lookingForWallets}</p>
      <div className="row row-blank" />
      <div className="row row-blank" />
    </div>
  );
}
