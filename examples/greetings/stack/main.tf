# A stack without a provider. Its resources only exist in its state.

variable "town" {
  type        = string
  description = "The town that greets. The platform passes the variable TF_VAR_town."
}

resource "terraform_data" "greeting" {
  input = "Greetings from ${var.town}"
}

resource "terraform_data" "key" {
  input = sensitive(sha256("the key of ${var.town}"))
}

output "greeting" {
  value = terraform_data.greeting.output
}

output "key" {
  value     = terraform_data.key.output
  sensitive = true
}
