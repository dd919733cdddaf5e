import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { clamp } from '../../shared/text.ts';
import { call, readPartner, setPartner } from '../api.ts';
import type { Partner } from '../api-types.ts';
import { useWords } from '../words.ts';

/** Lets a person of the operator choose the partner whose objects are shown. */
export function PartnerChooser() {
  const words = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data } = useQuery({
    queryKey: ['operator', 'partners'],
    queryFn: ({ signal }) => call<{ partners: Partner[] }>('GET', '/v1/operator/partners', { signal }),
    staleTime: 60_000,
  });
  const choose = async (id: string) => {
    setPartner(id === '' ? undefined : id);
    await client.resetQueries();
    await navigate({ to: id === '' ? '/operator' : '/payments' });
  };
  return (
    <select
      className="partner"
      aria-label={words.partner}
      value={readPartner() ?? ''}
      onChange={(event) => void choose(event.target.value)}
    >
      <option value="">{words.wholeGateway}</option>
      {data?.partners.map(({ id, name }) => (
        <option key={id} value={id}>
          {clamp(name, 40)}
        </option>
      ))}
    </select>
  );
}
