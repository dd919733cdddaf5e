import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { clamp, fill, shortAccount } from '../../shared/text.ts';
import { call } from '../api.ts';
import { useMay } from '../queries.ts';
import type { Destination, MerchantDetails } from '../shapes.ts';
import { MerchantFields } from '../ui/merchant-fields.tsx';
import { Code, Dialog, Field, FormEnd, MerchantBadge, Notice, useTitle } from '../ui/parts.tsx';
import { problemText } from '../ui/problem-text.ts';
import { useChange } from '../ui/use-change.ts';
import { useTimes, useWords } from '../words.ts';

export function MerchantPage() {
  const words = useWords();
  const { merchantId } = useParams({ from: '/shell/merchants/$merchantId' });
  const mayEdit = useMay('merchants:write');
  const [isEditing, setEditing] = useState(false);
  const { data, error } = useQuery({
    queryKey: ['merchants', 'one', merchantId],
    queryFn: ({ signal }) =>
      call<{ merchant: MerchantDetails }>('GET', `/v1/merchants/${encodeURIComponent(merchantId)}`, { signal }),
  });
  const merchant = data?.merchant;
  useTitle(merchant === undefined ? words.merchants : clamp(merchant.name, 60));
  if (merchant === undefined) {
    const text = problemText(words, error);
    return error === null ? <p className="empty">{words.loading}</p> : <Notice kind="bad">{text}</Notice>;
  }
  return (
    <>
      <Link to="/merchants" className="back-link">
        {words.merchants}
      </Link>
      <header className="page-head">
        <div>
          <h1 className="payment-title">
            <bdi>{clamp(merchant.name, 60)}</bdi> <MerchantBadge status={merchant.status} />
          </h1>
          <p className="soft">
            <bdi>{clamp(merchant.email, 80)}</bdi>
          </p>
        </div>
        <div className="page-actions">
          <Link to="/payments" search={{ merchant: merchant.id }} className="button quiet">
            {words.payments}
          </Link>
          {mayEdit && (
            <button type="button" className="quiet" onClick={() => setEditing(true)}>
              {words.edit}
            </button>
          )}
        </div>
      </header>
      <section aria-labelledby="destinations" className="card">
        <h2 id="destinations">{words.destinations}</h2>
        {merchant.settlements.crypto.length === 0 && <p className="soft">{words.noDestinations}</p>}
        <ul className="plain-list">
          {merchant.settlements.crypto.map((destination) => (
            <DestinationRow key={destination.id} merchantId={merchant.id} destination={destination} />
          ))}
        </ul>
      </section>
      {isEditing && <EditDialog merchant={merchant} onClose={() => setEditing(false)} />}
    </>
  );
}

interface RowProps {
  readonly merchantId: string;
  readonly destination: Destination;
}

function DestinationRow({ merchantId, destination }: RowProps) {
  const words = useWords();
  const times = useTimes();
  const mayChange = useMay('destinations:write');
  const [isChanging, setChanging] = useState(false);
  const { asset, pendingDestination, effectiveAt } = destination;
  return (
    <li>
      <span className="person-names">
        <Code text={destination.destination} label={asset} />
        <code className="soft" dir="ltr">
          {asset}
        </code>
        {pendingDestination !== undefined && effectiveAt !== undefined && (
          <span className="notice notice-warm small">
            {fill(words.changesAt, { account: shortAccount(pendingDestination), time: times.full(effectiveAt) })}
          </span>
        )}
      </span>
      {mayChange && (
        <button type="button" className="quiet small" onClick={() => setChanging(true)}>
          {words.change}
        </button>
      )}
      {isChanging && (
        <ChangeDialog merchantId={merchantId} destination={destination} onClose={() => setChanging(false)} />
      )}
    </li>
  );
}

function ChangeDialog({ merchantId, destination, onClose }: RowProps & { readonly onClose: () => void }) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const save = (form: FormData) =>
    run(async () => {
      const path = `/v1/merchants/${merchantId}/settlements/crypto/${destination.id}`;
      await call('PUT', path, { body: { destination: String(form.get('account')).trim() } });
      await client.invalidateQueries({ queryKey: ['merchants'] });
      onClose();
    });
  return (
    <Dialog title={words.changeDestination} onClose={onClose}>
      <form action={(form) => void save(form)}>
        <p>{words.changeDestinationText}</p>
        <Field label={words.newAccount}>
          {(id) => (
            <input
              id={id}
              name="account"
              required
              maxLength={256}
              dir="ltr"
              autoComplete="off"
              spellCheck={false}
              placeholder={`${destination.asset.split('/')[0]}:0x…`}
            />
          )}
        </Field>
        <FormEnd label={words.save} isRunning={isRunning} problem={problem} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

function EditDialog({ merchant, onClose }: { readonly merchant: MerchantDetails; readonly onClose: () => void }) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  const save = (form: FormData) =>
    run(async () => {
      const body = { merchantName: form.get('name'), merchantEmail: form.get('email') };
      await call('PATCH', `/v1/merchants/${merchant.id}`, { body });
      await client.invalidateQueries({ queryKey: ['merchants'] });
      onClose();
    });
  return (
    <Dialog title={<bdi>{clamp(merchant.name, 60)}</bdi>} onClose={onClose}>
      <form action={(form) => void save(form)}>
        <MerchantFields name={merchant.name} email={merchant.email} />
        <FormEnd label={words.save} isRunning={isRunning} problem={problem} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
