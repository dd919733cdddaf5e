import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { clamp } from '../../shared/text.ts';
import { call, queryText } from '../api.ts';
import type { MerchantPage } from '../api-types.ts';
import { useMay, useSession } from '../queries.ts';
import { Form } from '../ui/form.tsx';
import { ListState, More } from '../ui/list-state.tsx';
import { MerchantFields } from '../ui/merchant-fields.tsx';
import { usePages } from '../ui/pages-list.ts';
import { Dialog, FormEnd, MerchantBadge, PageHead, useTitle } from '../ui/parts.tsx';
import { useChange } from '../ui/use-change.ts';
import { useWords } from '../words.ts';

export function MerchantsPage() {
  const words = useWords();
  const { merchant } = useSession();
  // A person of one merchant cannot create merchants.
  const mayAdd = useMay('merchants:write') && merchant === null;
  const [isAdding, setAdding] = useState(false);
  useTitle(words.merchants);
  const list = usePages<MerchantPage>(
    ['merchants', 'list'],
    (cursor) => `/v1/merchants${queryText({ limit: 50, cursor })}`,
  );
  const rows = list.data?.pages.flatMap((page) => page.merchants);
  return (
    <>
      <PageHead title={words.merchants}>
        <Link to="/accepted-assets" className="button quiet">
          {words.acceptedAssets}
        </Link>
        {mayAdd && (
          <button type="button" className="main" onClick={() => setAdding(true)}>
            {words.addMerchant}
          </button>
        )}
      </PageHead>
      <ListState error={list.error} count={rows?.length} empty={words.noMerchants} />
      <ul className="plain-list" aria-label={words.merchants}>
        {rows?.map(({ id, name, email, status }) => (
          <li key={id}>
            <span className="person-names">
              <Link to="/merchants/$merchantId" params={{ merchantId: id }}>
                <bdi>{clamp(name, 60)}</bdi>
              </Link>
              <bdi className="soft small">{clamp(email ?? '', 80)}</bdi>
            </span>
            <MerchantBadge status={status} />
          </li>
        ))}
      </ul>
      <More list={list} />
      {isAdding && <AddDialog onClose={() => setAdding(false)} />}
    </>
  );
}

function AddDialog({ onClose }: { readonly onClose: () => void }) {
  const words = useWords();
  const client = useQueryClient();
  const { isRunning, problem, run } = useChange();
  // One Idempotency-Key for all attempts of this dialog, so that a lost answer does not create a second merchant.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const add = (form: FormData) =>
    run(async () => {
      const body = { merchantName: form.get('name'), merchantEmail: form.get('email') };
      await call('POST', '/v1/merchants', { body, idempotencyKey });
      await client.invalidateQueries({ queryKey: ['merchants'] });
      onClose();
    });
  return (
    <Dialog title={words.addMerchant} onClose={onClose}>
      <Form onSend={add}>
        <MerchantFields />
        <FormEnd label={words.addMerchant} isRunning={isRunning} problem={problem} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
