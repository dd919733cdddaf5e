import { Link } from '@tanstack/react-router';
import type { AcceptedAssets } from '../../../../src/domain/accepted-assets.ts';
import { call } from '../api.ts';
import { useMay, useSession } from '../queries.ts';
import { AcceptedForm, useAcceptedNames, usePartnerAccepted } from '../ui/accepted-assets.tsx';
import { ListState } from '../ui/list-state.tsx';
import { PageHead, useTitle } from '../ui/parts.tsx';
import { useWords } from '../words.ts';

/** The page with the partner's list of accepted assets. A person of one merchant can only read it. */
export function AcceptedAssetsPage() {
  const words = useWords();
  const { merchant } = useSession();
  const mayEdit = useMay('merchants:write') && merchant === null;
  const namesOf = useAcceptedNames();
  const list = usePartnerAccepted();
  useTitle(words.acceptedAssets);
  const save = async (acceptedAssets: AcceptedAssets, seen: AcceptedAssets) => {
    const body = { acceptedAssets, ifUnchanged: { acceptedAssets: seen } };
    return (await call<{ acceptedAssets: AcceptedAssets }>('PUT', '/v1/accepted-assets', { body })).acceptedAssets;
  };
  return (
    <>
      <Link to="/merchants" className="back-link">
        {words.merchants}
      </Link>
      <PageHead title={words.acceptedAssets} />
      <section className="card" aria-label={words.acceptedAssets}>
        <p className="soft">{words.acceptedPartnerText}</p>
        {list === undefined && <ListState error={null} />}
        {list !== undefined && mayEdit && <AcceptedForm initial={list} limit={null} save={save} />}
        {list !== undefined && !mayEdit && <p>{list === null ? words.acceptsAll : namesOf(list)}</p>}
      </section>
    </>
  );
}
