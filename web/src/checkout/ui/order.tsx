import { clamp } from '../../shared/text.ts';
import type { LineItem, PaymentPage } from '../page-state.ts';
import { Fold } from './fold.tsx';
import { Money } from './money-text.tsx';
import { useWords } from './words.ts';

const MAX_DESCRIPTION_CHARS = 280;
const SHOWN_ITEMS = 3;

export function Order({ page }: { readonly page: PaymentPage }) {
  const { strings } = useWords();
  const { referenceId } = page;
  const description = clamp(page.description ?? '', MAX_DESCRIPTION_CHARS);
  const items = page.lineItems ?? [];
  return (
    <div className="order">
      {description !== '' && (
        <p className="order-text">
          <bdi>{description}</bdi>
        </p>
      )}
      {items.length > 0 && (
        <Fold className="items" shown={SHOWN_ITEMS}>
          {items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an order never changes
            <Item key={index} item={item} />
          ))}
        </Fold>
      )}
      {referenceId !== '' && (
        <p className="reference">
          {strings.reference} <bdi>{clamp(referenceId, 64)}</bdi>
        </p>
      )}
    </div>
  );
}

function Item({ item: { name, quantity, amount } }: { readonly item: LineItem }) {
  return (
    <li className="item">
      <span className="item-name">
        {quantity != null && quantity !== 1 && <span className="item-count">{quantity} × </span>}
        <bdi>{clamp(name, 80)}</bdi>
      </span>
      {amount != null && <Money amount={amount} />}
    </li>
  );
}
