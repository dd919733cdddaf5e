import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { type AcceptedAssets, acceptedByAll, accepts } from '../../../../src/domain/accepted-assets.ts';
import { fill } from '../../shared/text.ts';
import { type AssetGroup, everything, groupsOf, namedIn, switched } from '../accepted.ts';
import { call } from '../api.ts';
import type { Merchant } from '../api-types.ts';
import { merchantQuery, useAssets, useMay } from '../queries.ts';
import { usePageState, useWords } from '../words.ts';
import { currentIn, Difference } from './difference.tsx';
import { Form } from './form.tsx';
import { Notice } from './parts.tsx';
import { useChange } from './use-change.ts';

/** The partner's list of accepted assets, which applies to all its merchants. */
export function usePartnerAccepted(): AcceptedAssets | undefined {
  const { data } = useQuery({
    queryKey: ['accepted-assets'],
    queryFn: ({ signal }) => call<{ acceptedAssets: AcceptedAssets }>('GET', '/v1/accepted-assets', { signal }),
  });
  return data?.acceptedAssets;
}

/** The assets that both the partner and the merchant accept. The list of a payment or a link is limited to them. */
export function useMerchantAccepted(merchantId: string): AcceptedAssets {
  const partner = usePartnerAccepted() ?? null;
  const { data } = useQuery(merchantQuery(merchantId));
  return acceptedByAll([partner, data?.merchant.acceptedAssets ?? null]);
}

/** A function that names a list's networks and assets in a sentence, as a person would list them. */
export function useAcceptedNames(): (list: readonly string[]) => string {
  const words = useWords();
  const { locale } = usePageState();
  const offered = useAssets();
  return (list) => {
    const names = namedIn(list, groupsOf(offered, list)).map((named) =>
      'symbol' in named ? `${named.symbol} (${named.network})` : fill(words.wholeNetwork, { network: named.network }),
    );
    return new Intl.ListFormat(locale, { type: 'conjunction' }).format(names);
  };
}

interface SwitchesProps {
  readonly list: AcceptedAssets;
  /** The list that limits this one: the partner's or the merchant's list. An asset that is not in it cannot be switched on. */
  readonly limit: AcceptedAssets;
  readonly onChange: (list: AcceptedAssets) => void;
}

/** The choice to accept everything, or switches for all assets by network. A sentence below explains the consequence. */
export function AcceptedSwitches({ list, limit, onChange }: SwitchesProps) {
  const words = useWords();
  const name = useId();
  const groups = groupsOf(useAssets(), list);
  return (
    <fieldset className="accepted" aria-label={words.acceptedAssets}>
      <label className="check">
        <input type="radio" name={name} checked={list === null} onChange={() => onChange(null)} />
        <span>{words.acceptsAll}</span>
      </label>
      <label className="check">
        <input
          type="radio"
          name={name}
          checked={list !== null}
          onChange={() => onChange(acceptedByAll([limit, everything(groups)]))}
        />
        <span>{words.acceptsSome}</span>
      </label>
      {list !== null && (
        <div className="accepted-groups">
          {groups.map((group) => (
            <Group key={group.network} group={group} list={list} limit={limit} onChange={onChange} />
          ))}
        </div>
      )}
      <Consequence list={list} limit={limit} />
    </fieldset>
  );
}

function Group({
  group,
  list,
  limit,
  onChange,
}: SwitchesProps & { readonly group: AssetGroup; readonly list: readonly string[] }) {
  const words = useWords();
  const row = (id: string, label: string) => {
    const isAllowed = accepts(limit, id);
    return (
      <label key={id} className="switch-row">
        <span>
          <bdi>{label}</bdi>
          {!isAllowed && id !== group.network && <span className="soft small"> · {words.notAccepted}</span>}
        </span>
        <input
          type="checkbox"
          role="switch"
          className="switch"
          aria-checked={accepts(list, id)}
          checked={accepts(list, id)}
          disabled={!isAllowed && !accepts(list, id)}
          onChange={() => onChange(switched(list, group, id))}
        />
      </label>
    );
  };
  return (
    <fieldset className="accepted-group">
      <legend>{group.name}</legend>
      {row(group.network, words.wholeNetworkSwitch)}
      {group.assets.map(({ id, symbol }) => row(id, symbol))}
    </fieldset>
  );
}

function Consequence({ list, limit }: Pick<SwitchesProps, 'list' | 'limit'>) {
  const words = useWords();
  const namesOf = useAcceptedNames();
  const common = acceptedByAll([limit, list]);
  if (common === null) return <p className="soft">{words.acceptedEverything}</p>;
  if (common.length === 0) return <Notice kind="bad">{words.acceptedNothing}</Notice>;
  return <p className="soft">{fill(words.acceptedOnly, { assets: namesOf(common) })}</p>;
}

interface FormProps {
  readonly initial: AcceptedAssets;
  readonly limit: AcceptedAssets;
  /**
   * Saves the list, and resolves to the list as it is stored. `seen` is the stored list that the page has shown. With `seen` in the
   * request, the gateway refuses to overwrite a list that was changed meanwhile.
   */
  readonly save: (list: AcceptedAssets, seen: AcceptedAssets) => Promise<AcceptedAssets>;
}

/** The switches with a button that saves them. */
export function AcceptedForm({ initial, limit, save }: FormProps) {
  const words = useWords();
  const client = useQueryClient();
  const namesOf = useAcceptedNames();
  const { isRunning, problem, run } = useChange();
  const [before, setBefore] = useState(initial);
  const [seen, setSeen] = useState(initial);
  const [draft, setDraft] = useState(initial);
  const [isSaved, setSaved] = useState(false);
  const isEmpty = acceptedByAll([limit, draft])?.length === 0;
  const isConflict = seen !== before;
  const textOf = (list: AcceptedAssets) => (list === null ? words.acceptsAll : namesOf(list));
  const send = () =>
    run(async () => {
      setSaved(false);
      try {
        const stored = await save(draft, seen);
        setBefore(stored);
        setSeen(stored);
        setDraft(stored);
        setSaved(true);
      } catch (error) {
        // The person has now seen the present list, so the next attempt to save may overwrite it.
        setSeen(currentIn<{ acceptedAssets: AcceptedAssets }>(error).acceptedAssets);
      } finally {
        await client.invalidateQueries({ queryKey: ['merchants'] });
        await client.invalidateQueries({ queryKey: ['accepted-assets'] });
      }
    });
  const edit = (list: AcceptedAssets) => {
    setDraft(list);
    setSaved(false);
  };
  return (
    <Form onSend={send}>
      {isConflict && <Difference rows={[{ label: words.acceptedAssets, from: textOf(before), to: textOf(seen) }]} />}
      <AcceptedSwitches list={draft} limit={limit} onChange={edit} />
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      {isSaved && <Notice kind="good">{words.saved}</Notice>}
      <button type="submit" className="main" disabled={isRunning || isEmpty}>
        {isConflict ? words.overwrite : words.save}
      </button>
    </Form>
  );
}

/** The section with the merchant's own list of accepted assets, which the partner's list limits. */
export function AcceptedSection({ merchant }: { readonly merchant: Merchant }) {
  const words = useWords();
  const mayEdit = useMay('merchants:write');
  const limit = usePartnerAccepted();
  const save = async (acceptedAssets: AcceptedAssets, seen: AcceptedAssets) => {
    const body = { acceptedAssets, ifUnchanged: { acceptedAssets: seen } };
    const { merchant: changed } = await call<{ merchant: Merchant }>('PATCH', `/v1/merchants/${merchant.id}`, {
      body,
    });
    return changed.acceptedAssets;
  };
  return (
    <section aria-labelledby="accepted" className="card">
      <div className="section-head">
        <h2 id="accepted">{words.acceptedAssets}</h2>
      </div>
      <p className="soft">{words.acceptedText}</p>
      {limit !== undefined &&
        (mayEdit ? (
          <AcceptedForm initial={merchant.acceptedAssets} limit={limit} save={save} />
        ) : (
          <Consequence list={merchant.acceptedAssets} limit={limit} />
        ))}
    </section>
  );
}
