//! The kinds of tokens that are recognised anywhere in a text.
//!
//! Ids, prefixes, lengths and thresholds of entropy follow the default rules of gitleaks, `config/gitleaks.toml`
//! at commit b58d3f1 (MIT licence, <https://github.com/gitleaks/gitleaks>). Taken are the rules whose tokens
//! are known by what their issuer puts before them. Not taken are those that need the name of a service nearby
//! (`generic-api-key` and the like) and JSON Web Tokens, which stand in documentation and tests as often as
//! not: their false alarms would cost documents. Four are stricter than there: Stripe (no test keys), Twilio
//! (lower case), Facebook and Slack (lengths). `azure-storage-key` follows
//! `AzureStorageKeyDetector` of detect-secrets (Apache-2.0), `gcp-oauth-client-secret` the prefix of Google's
//! client secrets.
//!
//! A token also begins and ends where letters and digits do, and must not be made up (`placeholder.rs`).

use crate::secrets::token::Part::{Run, Text};
use crate::secrets::token::{
    Alphabet, Part, TokenRule, alphabetic, alphanumeric, any_hex, base32, base64, digit, hex,
    lower, padding, secret_char, upper, wide, word,
};

const fn rule(
    id: &'static str,
    what: &'static str,
    starts: &'static [&'static str],
    parts: &'static [Part],
    entropy: f32,
) -> TokenRule {
    TokenRule {
        id,
        what,
        lead: None,
        starts,
        parts,
        entropy,
    }
}

const fn rule_after(lead: (Alphabet, usize), rule: TokenRule) -> TokenRule {
    TokenRule {
        lead: Some(lead),
        ..rule
    }
}

/// All of them, by id.
#[rustfmt::skip]
pub(super) static TOKENS: &[TokenRule] = &[
    rule("1password-service-account-token", "1Password service account token", &["ops_eyJ"], &[Run(base64, 250, 4000), Run(padding, 0, 3)], 4.0),
    rule("adobe-client-secret", "Adobe client secret", &["p8e-"], &[Run(alphanumeric, 32, 32)], 2.0),
    rule("age-secret-key", "age secret key", &["AGE-SECRET-KEY-1"], &[Run(upper, 58, 58)], 3.0),
    rule("alibaba-access-key-id", "Alibaba Cloud access key", &["LTAI"], &[Run(alphanumeric, 20, 20)], 3.0),
    rule("anthropic-admin-api-key", "Anthropic admin API key", &["sk-ant-admin01-"], &[Run(word, 95, 95)], 3.0),
    rule("anthropic-api-key", "Anthropic API key", &["sk-ant-api03-"], &[Run(word, 95, 95)], 3.0),
    rule("artifactory-api-key", "Artifactory API key", &["AKCp"], &[Run(alphanumeric, 69, 69)], 4.5),
    rule("atlassian-api-token", "Atlassian API token", &["ATATT3"], &[Run(wide, 186, 186)], 3.5),
    rule("aws-access-token", "AWS access key id", &["AKIA", "ASIA", "ABIA", "ACCA"], &[Run(base32, 16, 16)], 3.0),
    rule("aws-amazon-bedrock-api-key-long-lived", "Amazon Bedrock API key", &["ABSK"], &[Run(base64, 109, 269), Run(padding, 0, 2)], 3.0),
    rule_after((secret_char, 4), rule("azure-ad-client-secret", "Azure AD client secret", &["Q~"], &[Run(secret_char, 31, 34)], 3.0)),
    rule("azure-storage-key", "Azure storage account key", &["AccountKey="], &[Run(base64, 86, 86), Text("==")], 4.0),
    rule("clojars-api-token", "Clojars token", &["CLOJARS_"], &[Run(alphanumeric, 60, 60)], 2.0),
    rule("cloudflare-origin-ca-key", "Cloudflare origin CA key", &["v1.0-"], &[Run(hex, 24, 24), Text("-"), Run(hex, 146, 146)], 2.0),
    rule("databricks-api-token", "Databricks token", &["dapi"], &[Run(hex, 32, 32)], 3.0),
    rule("digitalocean-pat", "DigitalOcean token", &["dop_v1_", "doo_v1_", "dor_v1_"], &[Run(hex, 64, 64)], 3.0),
    rule("doppler-api-token", "Doppler token", &["dp.pt."], &[Run(alphanumeric, 43, 43)], 2.0),
    rule("duffel-api-token", "Duffel token", &["duffel_live_"], &[Run(wide, 43, 43)], 2.0),
    rule("dynatrace-api-token", "Dynatrace token", &["dt0c01."], &[Run(alphanumeric, 24, 24), Text("."), Run(alphanumeric, 64, 64)], 4.0),
    rule("easypost-api-token", "EasyPost token", &["EZAK"], &[Run(alphanumeric, 54, 54)], 2.0),
    rule("facebook-page-access-token", "Facebook page access token", &["EAAM", "EAAC"], &[Run(alphanumeric, 100, 1000)], 4.0),
    rule("flyio-access-token", "Fly.io token", &["fo1_"], &[Run(word, 43, 43)], 4.0),
    rule("frameio-api-token", "Frame.io token", &["fio-u-"], &[Run(wide, 64, 64)], 3.0),
    rule("gcp-api-key", "Google API key", &["AIza"], &[Run(word, 35, 35)], 4.0),
    rule("gcp-oauth-client-secret", "Google OAuth client secret", &["GOCSPX-"], &[Run(word, 28, 28)], 3.0),
    rule("github-app-token", "GitHub app token", &["ghu_", "ghs_"], &[Run(alphanumeric, 36, 36)], 3.0),
    rule("github-fine-grained-pat", "GitHub fine-grained token", &["github_pat_"], &[Run(word, 82, 82)], 3.0),
    rule("github-oauth", "GitHub OAuth token", &["gho_"], &[Run(alphanumeric, 36, 36)], 3.0),
    rule("github-pat", "GitHub personal access token", &["ghp_"], &[Run(alphanumeric, 36, 36)], 3.0),
    rule("github-refresh-token", "GitHub refresh token", &["ghr_"], &[Run(alphanumeric, 36, 36)], 3.0),
    rule("gitlab-cicd-job-token", "GitLab job token", &["glcbt-"], &[Run(alphanumeric, 1, 5), Text("_"), Run(word, 20, 20)], 3.0),
    rule("gitlab-deploy-token", "GitLab deploy, feed or SCIM token", &["gldt-", "glft-", "glsoat-"], &[Run(word, 20, 20)], 3.0),
    rule("gitlab-kubernetes-agent-token", "GitLab agent token", &["glagent-"], &[Run(word, 50, 50)], 3.0),
    rule("gitlab-oauth-app-secret", "GitLab OAuth secret", &["gloas-"], &[Run(word, 64, 64)], 3.0),
    rule("gitlab-pat", "GitLab personal access token", &["glpat-"], &[Run(word, 20, 20)], 3.0),
    rule("gitlab-pat-routable", "GitLab personal access token", &["glpat-"], &[Run(word, 27, 300), Text("."), Run(lower, 9, 9)], 4.0),
    rule("gitlab-ptt", "GitLab pipeline trigger token", &["glptt-"], &[Run(hex, 40, 40)], 3.0),
    rule("gitlab-rrt", "GitLab runner registration token", &["GR1348941"], &[Run(word, 20, 20)], 3.0),
    rule("gitlab-runner-authentication-token", "GitLab runner token", &["glrt-"], &[Run(word, 20, 20)], 3.0),
    rule("grafana-api-key", "Grafana API key", &["eyJrIjoi"], &[Run(alphanumeric, 70, 400), Run(padding, 0, 3)], 3.0),
    rule("grafana-cloud-api-token", "Grafana Cloud token", &["glc_"], &[Run(base64, 32, 400), Run(padding, 0, 3)], 3.0),
    rule("grafana-service-account-token", "Grafana service account token", &["glsa_"], 
        &[Run(alphanumeric, 32, 32), Text("_"), Run(any_hex, 8, 8)], 3.0),
    rule_after((alphanumeric, 14), rule("hashicorp-tf-api-token", "HCP Terraform token", &[".atlasv1."], &[Run(wide, 60, 70)], 3.5)),
    rule("heroku-api-key-v2", "Heroku API key", &["HRKU-AA"], &[Run(word, 58, 58)], 4.0),
    rule("huggingface-access-token", "Hugging Face token", &["hf_"], &[Run(alphabetic, 34, 34)], 2.0),
    rule("huggingface-organization-api-token", "Hugging Face organization token", &["api_org_"], &[Run(alphabetic, 34, 34)], 2.0),
    rule("infracost-api-token", "Infracost token", &["ico-"], &[Run(alphanumeric, 32, 32)], 3.0),
    rule("linear-api-key", "Linear API key", &["lin_api_"], &[Run(alphanumeric, 40, 40)], 2.0),
    rule("new-relic-user-api-key", "New Relic user key", &["NRAK-"], &[Run(upper, 27, 27)], 3.0),
    rule("notion-api-token", "Notion token", &["ntn_"], &[Run(digit, 11, 11), Run(alphanumeric, 35, 35)], 4.0),
    rule("npm-access-token", "npm token", &["npm_"], &[Run(alphanumeric, 36, 36)], 3.0),
    rule("octopus-deploy-api-key", "Octopus Deploy API key", &["API-"], &[Run(upper, 26, 26)], 3.0),
    rule("openai-api-key", "OpenAI API key", &["sk-"], &[Run(alphanumeric, 20, 20), Text("T3BlbkFJ"), Run(alphanumeric, 20, 20)], 3.0),
    rule("openai-api-key", "OpenAI API key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], 
        &[Run(word, 74, 74), Text("T3BlbkFJ"), Run(word, 74, 74)], 3.0),
    rule("openai-api-key", "OpenAI API key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], 
        &[Run(word, 58, 58), Text("T3BlbkFJ"), Run(word, 58, 58)], 3.0),
    rule("openshift-user-token", "OpenShift token", &["sha256~"], &[Run(word, 43, 43)], 3.5),
    rule("perplexity-api-key", "Perplexity API key", &["pplx-"], &[Run(alphanumeric, 48, 48)], 4.0),
    rule("planetscale-api-token", "PlanetScale token or password", &["pscale_tkn_", "pscale_oauth_", "pscale_pw_"], &[Run(wide, 32, 64)], 3.0),
    rule("postman-api-token", "Postman API key", &["PMAK-"], &[Run(hex, 24, 24), Text("-"), Run(hex, 34, 34)], 3.0),
    rule("prefect-api-token", "Prefect token", &["pnu_"], &[Run(alphanumeric, 36, 36)], 2.0),
    rule("pulumi-api-token", "Pulumi token", &["pul-"], &[Run(hex, 40, 40)], 2.0),
    rule("pypi-upload-token", "PyPI token", &["pypi-AgEIcHlwaS5vcmc"], &[Run(word, 50, 1000)], 3.0),
    rule("readme-api-token", "ReadMe token", &["rdme_"], &[Run(lower, 70, 70)], 2.0),
    rule("rubygems-api-token", "RubyGems API key", &["rubygems_"], &[Run(hex, 48, 48)], 2.0),
    rule("sendgrid-api-token", "SendGrid API key", &["SG."], &[Run(word, 22, 22), Text("."), Run(word, 43, 43)], 4.0),
    rule("sendinblue-api-token", "Brevo (Sendinblue) API key", &["xkeysib-"], &[Run(hex, 64, 64), Text("-"), Run(alphanumeric, 16, 16)], 2.0),
    rule("sentry-org-token", "Sentry organization token", &["sntrys_eyJpYXQiO"], 
        &[Run(base64, 30, 500), Run(padding, 0, 2), Text("_"), Run(base64, 43, 43)], 4.5),
    rule("sentry-user-token", "Sentry user token", &["sntryu_"], &[Run(hex, 64, 64)], 3.5),
    rule("shippo-api-token", "Shippo token", &["shippo_live_"], &[Run(any_hex, 40, 40)], 2.0),
    rule("shopify-access-token", "Shopify token or secret", &["shpat_", "shpca_", "shppa_", "shpss_"], &[Run(any_hex, 32, 32)], 2.0),
    rule("slack-app-token", "Slack app token", &["xapp-1-"], &[Run(upper, 8, 14), Text("-"), Run(digit, 10, 14), Text("-"), Run(lower, 40, 80)], 2.0),
    rule("slack-bot-token", "Slack bot token", &["xoxb-"], &[Run(digit, 8, 14), Text("-"), Run(word, 18, 60)], 3.0),
    rule("slack-config-access-token", "Slack configuration token", &["xoxe.xoxb-1-", "xoxe.xoxp-1-"], &[Run(alphanumeric, 163, 166)], 2.0),
    rule("slack-legacy-token", "Slack legacy token", &["xoxs-", "xoxo-"], 
        &[Run(digit, 6, 14), Text("-"), Run(digit, 6, 14), Text("-"), Run(digit, 6, 14), Text("-"), Run(any_hex, 10, 64)], 2.0),
    rule("slack-user-token", "Slack user token", &["xoxp-", "xoxe-"], 
        &[Run(digit, 10, 13), Text("-"), Run(digit, 10, 13), Text("-"), Run(digit, 10, 13), Text("-"), Run(word, 28, 34)], 2.0),
    rule("slack-webhook-url", "Slack webhook", &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"], 
        &[Run(base64, 43, 56)], 3.5),
    rule("square-access-token", "Square access token", &["sq0atp-", "sq0csp-"], &[Run(word, 22, 60)], 2.0),
    rule("stripe-access-token", "Stripe live key", &["sk_live_", "rk_live_", "sk_prod_", "rk_prod_"], &[Run(alphanumeric, 16, 99)], 3.0),
    rule("twilio-api-key", "Twilio API key", &["SK"], &[Run(hex, 32, 32)], 3.0),
    rule("typeform-api-token", "Typeform token", &["tfp_"], &[Run(wide, 59, 59)], 3.0),
    rule("vault-batch-token", "Vault batch token", &["hvb."], &[Run(word, 138, 300)], 4.0),
    rule("vault-service-token", "Vault service token", &["hvs."], &[Run(word, 90, 120)], 3.5),
];
