import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { formatAmount } from '../../shared/money.ts';
import { clamp, fill } from '../../shared/text.ts';
import { call, queryText } from '../api.ts';
import type { PaymentLink, PaymentLinkPage } from '../api-types.ts';
import { useMay } from '../queries.ts';
import { ListState, More } from '../ui/list-state.tsx';
import { useMerchantChoice } from '../ui/merchant-select.tsx';
import { NewLinkDialog } from '../ui/new-link.tsx';
import { usePages } from '../ui/pages-list.ts';
import { Code, Dialog, Notice, PageHead, useTitle } from '../ui/parts.tsx';
import { QrCode } from '../ui/qr-code.tsx';
import { useChange } from '../ui/use-change.ts';
import { usePageState, useWords } from '../words.ts';

export function LinksPage() {
  const words = useWords();
  const { merchantId, select, isNone, error } = useMerchantChoice();
  const mayWrite = useMay('links:write');
  const [isAdding, setAdding] = useState(false);
  const [shown, setShown] = useState<PaymentLink>();
  useTitle(words.paymentLinks);
  const list = usePages<PaymentLinkPage>(
    ['links', merchantId],
    (cursor) => `/v1/payment-links${queryText({ limit: 50, cursor })}`,
    { merchant: { id: merchantId } },
  );
  const rows = list.data?.pages.flatMap((page) => page.paymentLinks);
  return (
    <>
      <PageHead title={words.paymentLinks}>
        {mayWrite && merchantId !== undefined && (
          <button type="button" className="main" onClick={() => setAdding(true)}>
            {words.addLink}
          </button>
        )}
      </PageHead>
      {select}
      <ListState error={error ?? list.error} count={isNone ? 0 : rows?.length} empty={words.noLinks} />
      <ul className="plain-list" aria-label={words.paymentLinks}>
        {merchantId !== undefined &&
          rows?.map((link) => (
            <LinkRow key={link.id} link={link} merchantId={merchantId} mayWrite={mayWrite} onShare={setShown} />
          ))}
      </ul>
      <More list={list} />
      {isAdding && merchantId !== undefined && (
        <NewLinkDialog
          merchantId={merchantId}
          onClose={() => setAdding(false)}
          onMade={(link) => {
            setAdding(false);
            setShown(link);
          }}
        />
      )}
      {shown !== undefined && <ShareDialog link={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

/** A function that formats the price of a link: `$5.00`, or `$1.00 – $100.00` if the payer chooses the amount. */
function usePrice(): (link: PaymentLink) => string {
  const style = usePageState();
  return ({ amount, minimum, maximum }) =>
    [amount, minimum, maximum].flatMap((each) => (each === null ? [] : formatAmount(each, style))).join(' – ');
}

interface RowProps {
  readonly link: PaymentLink;
  readonly merchantId: string;
  readonly mayWrite: boolean;
  readonly onShare: (link: PaymentLink) => void;
}

function LinkRow({ link, merchantId, mayWrite, onShare }: RowProps) {
  const words = useWords();
  const client = useQueryClient();
  const priceOf = usePrice();
  const { isRunning, problem, run } = useChange();
  const { id, description, stock, taken, status } = link;
  const isActive = status === 'active';
  const toggle = () =>
    run(async () => {
      const body = { status: isActive ? 'inactive' : 'active' };
      await call('PATCH', `/v1/payment-links/${id}`, { merchantId, body });
      await client.invalidateQueries({ queryKey: ['links'] });
    });
  return (
    <li>
      <span className="person-names">
        <bdi>{clamp(description, 80)}</bdi>
        <span className="soft small">
          {priceOf(link)}
          {stock !== null && <> · {fill(words.taken, { taken: String(taken ?? 0), stock: String(stock) })}</>}
        </span>
        {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      </span>
      <span className="person-actions">
        <span className={`badge ${isActive ? 'badge-succeeded' : 'badge-expired'}`}>
          {isActive ? words.endpointActive : words.merchantInactive}
        </span>
        <button type="button" className="quiet small" onClick={() => onShare(link)}>
          {words.share}
        </button>
        {mayWrite && (
          <button type="button" className="quiet small" disabled={isRunning} onClick={() => void toggle()}>
            {isActive ? words.disable : words.enable}
          </button>
        )}
      </span>
    </li>
  );
}

/** The style of the payment button for shops. It is inline, because the shop's page does not have our stylesheet. */
const BUTTON_STYLE =
  'display:inline-block;padding:14px 22px;border-radius:12px;background:#16181d;color:#fff;font:600 16px system-ui,sans-serif;text-decoration:none';

function ShareDialog({ link, onClose }: { readonly link: PaymentLink; readonly onClose: () => void }) {
  const words = useWords();
  const priceOf = usePrice();
  const label = link.amount === null ? words.pay : fill(words.payAmount, { amount: priceOf(link) });
  return (
    <Dialog title={<bdi>{clamp(link.description, 60)}</bdi>} onClose={onClose}>
      <QrCode text={link.url} label={words.qrOfLink} />
      <Code text={link.url} label={words.paymentLinks} />
      <h3>{words.buttonCode}</h3>
      <p className="soft small">{words.buttonCodeText}</p>
      <Code text={`<a href="${link.url}" style="${BUTTON_STYLE}">${label}</a>`} label={words.buttonCode} />
      <div className="dialog-actions">
        <button type="button" className="main" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </Dialog>
  );
}
