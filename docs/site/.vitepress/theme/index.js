import { useRoute } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { onMounted, watch } from 'vue';
import './till.css';

export default {
  extends: DefaultTheme,
  setup() {
    const route = useRoute();
    onMounted(markMain);
    watch(() => route.path, markMain, { flush: 'post' });
  },
};

/** The theme has a main landmark on every page but the front page. */
function markMain() {
  const content = document.querySelector('#VPContent');
  if (content?.classList.contains('is-home')) content.setAttribute('role', 'main');
  else content?.removeAttribute('role');
}
