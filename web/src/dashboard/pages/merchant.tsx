import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { clamp, fill, shortAccount } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { ListedMerchant, SettlementDestination } from '../api-types.ts';
import { merchantQuery, useAssets, useMay } from '../queries.ts';
import { AcceptedSection } from '../ui/accepted-assets.tsx';
import { BrandingSection } from '../ui/branding.tsx';
import { ListState } from '../ui/list-state.tsx';
import {
  AddDestinationDialog,
  ChangeDestinationDialog,
  EditDialog,
  StatusDialog,
  seenIn,
} from '../ui/merchant-dialogs.tsx';
import { Code, MerchantBadge, Notice, useTitle } from '../ui/parts.tsx';
import { useChange } from '../ui/use-change.ts';
import { useTimes, useWords } from '../words.ts';

export function MerchantPage() {
  const words = useWords();
  const { merchantId } = useParams({ from: '/shell/merchants/$merchantId' });
  const mayEdit = useMay('merchants:write');
  const mayAdd = useMay('destinations:write');
  const [asked, setAsked] = useState<'edit' | 'add' | ListedMerchant['status']>();
  const close = () => setAsked(undefined);
  const { data, error } = useQuery(merchantQuery(merchantId));
  const merchant = data?.merchant;
  useTitle(merchant === undefined ? words.merchants : clamp(merchant.name, 60));
  if (merchant === undefined) return <ListState error={error} />;
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
            <bdi>{clamp(merchant.email ?? '', 80)}</bdi>
          </p>
        </div>
        <div className="page-actions">
          <Link to="/payments" search={{ merchant: merchant.id }} className="button quiet">
            {words.payments}
          </Link>
          {mayEdit && (
            <>
              <button type="button" className="quiet" onClick={() => setAsked('edit')}>
                {words.edit}
              </button>
              {merchant.status === 'active' && (
                <button type="button" className="quiet" onClick={() => setAsked('inactive')}>
                  {words.deactivate}
                </button>
              )}
              {merchant.status === 'inactive' && (
                <button type="button" className="quiet" onClick={() => setAsked('active')}>
                  {words.activate}
                </button>
              )}
              {merchant.status !== 'suspended' && (
                <button type="button" className="quiet" onClick={() => setAsked('suspended')}>
                  {words.suspend}
                </button>
              )}
            </>
          )}
        </div>
      </header>
      {merchant.status === 'suspended' && <Notice kind="bad">{words.suspendedText}</Notice>}
      <section aria-labelledby="destinations" className="card">
        <div className="section-head">
          <h2 id="destinations">{words.destinations}</h2>
          {mayAdd && (
            <button type="button" className="quiet small" onClick={() => setAsked('add')}>
              {words.addDestination}
            </button>
          )}
        </div>
        {merchant.settlements.crypto.length === 0 && <p className="soft">{words.noDestinations}</p>}
        <ul className="plain-list">
          {merchant.settlements.crypto.map((destination) => (
            <DestinationRow key={destination.id} merchantId={merchant.id} destination={destination} />
          ))}
        </ul>
      </section>
      <AcceptedSection key={`accepted ${merchant.id}`} merchant={merchant} />
      <BrandingSection key={merchant.id} merchant={merchant} />
      {asked === 'edit' && <EditDialog merchant={merchant} onClose={close} />}
      {asked === 'add' && <AddDestinationDialog merchant={merchant} onClose={close} />}
      {(asked === 'active' || asked === 'inactive' || asked === 'suspended') && (
        <StatusDialog merchant={merchant} to={asked} onClose={close} />
      )}
    </>
  );
}

interface RowProps {
  readonly merchantId: string;
  readonly destination: SettlementDestination;
}

function DestinationRow({ merchantId, destination }: RowProps) {
  const words = useWords();
  const times = useTimes();
  const mayChange = useMay('destinations:write');
  const [isChanging, setChanging] = useState(false);
  const { asset, pendingDestination, effectiveAt } = destination;
  const known = useAssets().find((each) => each.asset === asset);
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  /** Withdraws a pending change of the destination, by sending the present account as its new account. */
  const withdraw = () =>
    run(async () => {
      const path = `/v1/merchants/${merchantId}/settlements/crypto/${destination.id}`;
      const body = { destination: destination.destination, ifUnchanged: seenIn(destination) };
      try {
        await call('PUT', path, { body });
      } finally {
        await client.invalidateQueries({ queryKey: ['merchants'] });
      }
    });
  return (
    <li>
      <span className="person-names">
        <span className="strong">
          {known === undefined ? (
            <code dir="ltr">{asset}</code>
          ) : (
            <span title={asset}>
              {known.symbol} · {known.networkName}
            </span>
          )}
        </span>
        <Code text={destination.destination} label={asset} />
        {pendingDestination !== undefined && effectiveAt !== undefined && (
          <span className="notice notice-warm small">
            {fill(words.changesAt, { account: shortAccount(pendingDestination), time: times.full(effectiveAt) })}
            {mayChange && (
              <button type="button" className="quiet small" disabled={isRunning} onClick={() => void withdraw()}>
                {words.withdraw}
              </button>
            )}
          </span>
        )}
        {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      </span>
      {mayChange && (
        <button type="button" className="quiet small" onClick={() => setChanging(true)}>
          {words.change}
        </button>
      )}
      {isChanging && (
        <ChangeDestinationDialog merchantId={merchantId} destination={destination} onClose={() => setChanging(false)} />
      )}
    </li>
  );
}
