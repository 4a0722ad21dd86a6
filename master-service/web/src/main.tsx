import { render } from 'preact';
import { Page } from './page.tsx';
import { loadStatus, takeLinkFromAddress } from './page-state.ts';

const root = document.getElementById('page');
if (root) {
  root.replaceChildren();
  render(<Page />, root);
  void loadStatus();
  void takeLinkFromAddress(window.location.search);
}
